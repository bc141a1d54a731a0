// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/sensitivity/sensitivity.h"
#include "core/project/search/recipe_search.h"

#include <QAbstractTableModel>
#include <QString>

#include <memory>
#include <vector>

namespace qs {

/// What each unit costs at the outputs, what buys most first.
class SensitivityModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Unit, Op, Gain, Without, Alone, Macs, ColumnCount };
    enum Role { SortRole = Qt::UserRole, NameRole };
    using QAbstractTableModel::QAbstractTableModel;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
    /// Null: no rows.
    void setSensitivity(const Sensitivity* sensitivity);

private:
    Number number(const UnitSensitivity& unit, int column) const;
    QString text(const UnitSensitivity& unit, int column) const;

    std::vector<UnitSensitivity> m_units;
    OutputScore m_all;
};

/// Recipes that a search found, best first.
class FoundRecipeModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Name, Sqnr, Accuracy, ColumnCount };
    enum Role { SortRole = Qt::UserRole };
    using QAbstractTableModel::QAbstractTableModel;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
    void setFound(const std::vector<FoundRecipe>& found);
    const FoundRecipe& found(int row) const { return m_found[size_t(row)]; }

private:
    std::vector<FoundRecipe> m_found;
};

} // namespace qs
