// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/snapshot/snapshot.h"
#include "widgets/models/base/column.h"

#include <QAbstractTableModel>

namespace qs {

/// A table with declared columns, as views and sorting see it; RowModel has the rows.
class ColumnModel : public QAbstractTableModel {
    Q_OBJECT
public:
    using QAbstractTableModel::QAbstractTableModel;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const final;
    virtual const ColumnSpec& column(int section) const = 0;
    virtual int columnOf(ColumnKey key) const = 0;
    /// Shows what a snapshot holds; nothing changes where the rows come from elsewhere.
    virtual void setSnapshot(const SnapshotPtr& snapshot);

    /// Sort keys of a whole column at once: numbers, or ranks of texts. NaN = does not exist.
    std::vector<double> sortKeys(int column) const;
};

} // namespace qs
