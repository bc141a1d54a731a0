// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/lab/weight_lab.h"

#include <QAbstractTableModel>

#include <memory>

namespace qs {

/// Ways to store one weight, with what each gives.
class WeightLabModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Way, Sqnr, WorstChannel, Equalized, ColumnCount };
    enum Role { StoredRole = Qt::UserRole }; ///< true: the weight is stored this way
    using QAbstractTableModel::QAbstractTableModel;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
    /// Null: none. `stored`: how the weight is stored now.
    void setLab(std::shared_ptr<const WeightLab> lab, const QuantParams& stored);

private:
    QString text(const WeightTrial& trial, int row, int column) const;
    bool isStored(const WeightTrial& trial) const;

    std::shared_ptr<const WeightLab> m_lab;
    QuantParams m_stored;
};

} // namespace qs
