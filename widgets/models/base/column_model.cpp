// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/base/column_model.h"

#include "widgets/models/base/natural_order.h"

#include <limits>
#include <numeric>

namespace qs {

QVariant ColumnModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || section < 0 || section >= columnCount())
        return QAbstractTableModel::headerData(section, orientation, role);
    return qs::headerData(column(section), role);
}

void ColumnModel::setSnapshot(const SnapshotPtr&) { }

std::vector<double> ColumnModel::sortKeys(int section) const
{
    constexpr double kAbsent = std::numeric_limits<double>::quiet_NaN();
    const auto count = size_t(rowCount());
    const auto keyOf = [&](size_t row) { return index(int(row), section).data(SortRole); };
    std::vector<double> keys(count);
    if (column(section).kind != ColumnKind::Text) {
        for (size_t i = 0; i < count; ++i) {
            const QVariant key = keyOf(i);
            keys[i] = key.isValid() ? key.toDouble() : kAbsent;
        }
        return keys;
    }
    std::vector<QString> texts(count);
    std::vector<size_t> order(count);
    for (size_t i = 0; i < count; ++i)
        texts[i] = keyOf(i).toString();
    std::iota(order.begin(), order.end(), size_t(0));
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return naturalCompare(texts[a], texts[b]) < 0; });
    double rank = 0;
    for (size_t i = 0; i < count; ++i) {
        if (i > 0 && texts[order[i]] != texts[order[i - 1]])
            ++rank;
        keys[order[i]] = texts[order[i]].isEmpty() ? kAbsent : rank;
    }
    return keys;
}

} // namespace qs

#include "moc_column_model.cpp"
