// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/inspector/inspector_model.h"

#include <algorithm>

namespace qs {

namespace {

constexpr qsizetype kLongValue = 24; ///< letters

} // namespace

int InspectorModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : int(m_rows.size()); }

int InspectorModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : 2; }

QVariant InspectorModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const InspectorRow& row = m_rows[size_t(index.row())];
    switch (role) {
    case Qt::DisplayRole:
        return index.column() == 0 ? row.key : row.value;
    case Qt::ToolTipRole:
        return row.toolTip.isEmpty()        ? row.value
            : row.value.size() < kLongValue ? row.toolTip
                                            : row.value + QStringLiteral("\n\n") + row.toolTip; // it may be cut
    case SectionRole:
        return row.section;
    case SentenceRole:
        return row.sentence;
    case WeightRole:
        return row.weight ? QVariant::fromValue(quint64(*row.weight)) : QVariant();
    case ActivationRole:
        return row.activation ? QVariant::fromValue(quint64(*row.activation)) : QVariant();
    case SortRole:
        return double(index.row());
    default:
        return {};
    }
}

QVariant InspectorModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return QAbstractTableModel::headerData(section, orientation, role);
    return section == 0 ? tr("property") : tr("value");
}

void InspectorModel::setRows(std::vector<InspectorRow> rows)
{
    const auto sameKey
        = [](const InspectorRow& a, const InspectorRow& b) { return a.key == b.key && a.section == b.section; };
    if (!std::equal(m_rows.begin(), m_rows.end(), rows.begin(), rows.end(), sameKey)) {
        beginResetModel();
        m_rows = std::move(rows);
        endResetModel();
        return;
    }
    int first = -1, last = -1;
    for (size_t i = 0; i < rows.size(); ++i) {
        if (rows[i] == m_rows[i])
            continue;
        first = first < 0 ? int(i) : first;
        last = int(i);
    }
    m_rows = std::move(rows);
    if (first >= 0)
        emit dataChanged(index(first, 0), index(last, 1));
}

} // namespace qs

#include "moc_inspector_model.cpp"
