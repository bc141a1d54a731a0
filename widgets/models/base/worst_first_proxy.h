// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/base/column_model.h"

#include <QSortFilterProxyModel>

namespace qs {

/// Sorts and filters a ColumnModel. Cells that do not exist come last in either order; equal ones keep their order in
/// the network. The filter takes words, all of which must occur ("conv dtype:int8" is just two words).
class WorstFirstProxy : public QSortFilterProxyModel {
    Q_OBJECT
public:
    explicit WorstFirstProxy(QObject* parent = nullptr);
    void setColumns(ColumnModel* model);
    void setFilterWords(const QString& words);
    void sort(int column, Qt::SortOrder order) override;
    /// Sorts by the column so that its worst comes first.
    void sortWorstFirst(int column);
    int hiddenRows() const;

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;
    bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;

private:
    const std::vector<double>& keys(int column) const;

    ColumnModel* m_model = nullptr;
    QStringList m_words;
    Qt::SortOrder m_order = Qt::AscendingOrder;
    mutable std::vector<double> m_keys;
    mutable int m_keyColumn = -1;
};

} // namespace qs
