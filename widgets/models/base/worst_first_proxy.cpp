// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/base/worst_first_proxy.h"

#include <algorithm>
#include <cmath>

namespace qs {

WorstFirstProxy::WorstFirstProxy(QObject* parent)
    : QSortFilterProxyModel(parent)
{
    setSortRole(SortRole);
    setDynamicSortFilter(true);
}

void WorstFirstProxy::setColumns(ColumnModel* model)
{
    // Before the base class reacts to the same signals: the keys it will ask for are then fresh.
    const auto forget = [this] { m_keyColumn = -1; };
    connect(model, &QAbstractItemModel::dataChanged, this, forget);
    connect(model, &QAbstractItemModel::rowsInserted, this, forget);
    connect(model, &QAbstractItemModel::rowsRemoved, this, forget);
    connect(model, &QAbstractItemModel::modelReset, this, forget);
    m_model = model;
    setSourceModel(model);
}

void WorstFirstProxy::setFilterWords(const QString& words)
{
    const QStringList list = words.toLower().split(u' ', Qt::SkipEmptyParts);
    if (list == m_words)
        return;
    m_words = list;
    invalidateFilter();
}

void WorstFirstProxy::sort(int column, Qt::SortOrder order)
{
    m_order = order;
    QSortFilterProxyModel::sort(column, order);
}

void WorstFirstProxy::sortWorstFirst(int column) { sort(column, m_model->column(column).worst); }

int WorstFirstProxy::hiddenRows() const { return m_model ? m_model->rowCount() - rowCount() : 0; }

bool WorstFirstProxy::filterAcceptsRow(int row, const QModelIndex& parent) const
{
    if (m_words.isEmpty())
        return true;
    const QString text = m_model->data(m_model->index(row, 0, parent), FilterRole).toString();
    return std::all_of(m_words.begin(), m_words.end(),
        [&text](const QString& word) { return text.contains(word, Qt::CaseInsensitive); });
}

const std::vector<double>& WorstFirstProxy::keys(int column) const
{
    if (m_keyColumn != column || m_keys.size() != size_t(m_model->rowCount())) {
        m_keys = m_model->sortKeys(column);
        m_keyColumn = column;
    }
    return m_keys;
}

bool WorstFirstProxy::lessThan(const QModelIndex& left, const QModelIndex& right) const
{
    const std::vector<double>& all = keys(left.column());
    const double a = all[size_t(left.row())], b = all[size_t(right.row())];
    const bool noA = std::isnan(a), noB = std::isnan(b);
    if (noA != noB) // what does not exist is last in both orders
        return (m_order == Qt::AscendingOrder) == noB;
    if (noA || a == b) // equal ones stay in the network's order
        return m_order == Qt::AscendingOrder ? left.row() < right.row() : left.row() > right.row();
    return a < b;
}

} // namespace qs

#include "moc_worst_first_proxy.cpp"
