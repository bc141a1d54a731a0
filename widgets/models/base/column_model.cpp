// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/base/column_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace qs {

ColumnModel::ColumnModel(std::vector<ColumnSpec> columns, QObject* parent)
    : QAbstractTableModel(parent)
    , m_columns(std::move(columns))
{
}

int ColumnModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : m_rows; }

int ColumnModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : int(m_columns.size()); }

QVariant ColumnModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const int row = index.row(), section = index.column();
    const ColumnKind kind = column(section).kind;
    switch (role) {
    case Qt::DisplayRole:
        return text(row, section);
    case Qt::TextAlignmentRole:
        return int((isWritten(kind) ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    case RowRole:
        return QVariant::fromValue<quint64>(quint64(row));
    case FilterRole:
        return filterText(row);
    case CopyRole:
    case SortRole: {
        if (kind == ColumnKind::Text || (kind == ColumnKind::Word && role == CopyRole))
            return text(row, section);
        const Number value = number(row, section);
        if (role == CopyRole && (!value || !std::isfinite(*value)))
            return text(row, section);
        return value ? QVariant(*value) : QVariant();
    }
    default:
        return extra(row, section, role);
    }
}

QVariant ColumnModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || section < 0 || section >= columnCount())
        return QAbstractTableModel::headerData(section, orientation, role);
    const ColumnSpec& spec = column(section);
    switch (role) {
    case Qt::DisplayRole:
        return spec.title;
    case Qt::ToolTipRole:
        return spec.toolTip;
    case Qt::TextAlignmentRole:
        return int((isWritten(spec.kind) ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    case WorstOrderRole:
        return int(spec.worst);
    case WidthRole:
        return spec.typical;
    case PresetRole:
        return spec.shown;
    default:
        return {};
    }
}

QVariant ColumnModel::extra(int, int, int) const { return {}; }

std::vector<double> ColumnModel::sortKeys(int section) const
{
    const auto count = size_t(m_rows);
    std::vector<double> keys(count);
    if (column(section).kind != ColumnKind::Text) {
        for (size_t i = 0; i < count; ++i)
            keys[i] = number(int(i), section).value_or(std::numeric_limits<double>::quiet_NaN());
        return keys;
    }
    std::vector<QString> texts(count);
    std::vector<size_t> order(count);
    for (size_t i = 0; i < count; ++i)
        texts[i] = text(int(i), section);
    std::iota(order.begin(), order.end(), size_t(0));
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return texts[a] < texts[b]; });
    double rank = 0;
    for (size_t i = 0; i < count; ++i) {
        if (i > 0 && texts[order[i]] != texts[order[i - 1]])
            ++rank;
        keys[order[i]] = texts[order[i]].isEmpty() ? std::numeric_limits<double>::quiet_NaN() : rank;
    }
    return keys;
}

void ColumnModel::setSnapshot(const SnapshotPtr& snapshot)
{
    if (!snapshot || snapshot == m_snapshot)
        return;
    const SnapshotPtr before = m_snapshot;
    const int old = m_rows, now = countOf(*snapshot);
    const int shared = std::min(old, now);
    int head = 0, tail = 0;
    while (head < shared && keyOf(*before, head) == keyOf(*snapshot, head))
        ++head;
    while (tail < shared - head && keyOf(*before, old - 1 - tail) == keyOf(*snapshot, now - 1 - tail))
        ++tail;
    if (head == 0 && tail == 0 && old > 0) {
        beginResetModel();
        m_snapshot = snapshot;
        m_rows = now;
        endResetModel();
        return;
    }
    if (old - tail > head) {
        beginRemoveRows({}, head, old - tail - 1);
        m_rows = head + tail; // until the insertion the old snapshot's tail would be misread, so nobody may read it:
        m_snapshot = snapshot; // the new snapshot has at least head + tail rows, all of them valid
        endRemoveRows();
    }
    if (now - tail > head) {
        beginInsertRows({}, head, now - tail - 1);
        m_snapshot = snapshot;
        m_rows = now;
        endInsertRows();
    }
    m_snapshot = snapshot;
    announceChanges(before);
}

void ColumnModel::announceChanges(const SnapshotPtr& before)
{
    const int old = countOf(*before);
    const int shared = std::min(old, m_rows);
    int first = -1, last = -1;
    for (int row = 0; row < shared; ++row) {
        if (keyOf(*before, row) == keyOf(*m_snapshot, row) && sameNumbers(*before, row, *m_snapshot, row))
            continue;
        first = first < 0 ? row : first;
        last = row;
    }
    if (m_rows != old && shared > 0) { // rows behind a removal or insertion moved: announce them all
        first = first < 0 ? 0 : first;
        last = m_rows - 1;
    }
    if (first >= 0)
        emit dataChanged(index(first, 0), index(last, columnCount() - 1));
}

} // namespace qs
