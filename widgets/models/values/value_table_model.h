// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/values/tensor_values.h"

#include <QAbstractTableModel>

#include <memory>
#include <optional>

namespace qs {

/// How a tensor is shown.
struct ValueView {
    std::shared_ptr<const TensorValues> values; ///< null: nothing is shown
    ValueKind kind = ValueKind::Float; ///< one that hasKind()
    TensorSlice slice;
    std::optional<size_t> across; ///< axis of the slice that goes to the right
    int digits = 4; ///< significant ones, of reals
    bool hex = false; ///< codes as hexadecimal digits
};

/// The elements of a slice as rows and columns, read from the tensors when they are asked for. Of very long slices one
/// page of rows and columns.
class ValueTableModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Role {
        StrengthRole = Qt::UserRole + 1, ///< magnitude over the largest of the slice, 0..1; invalid while not known
        CopyRole, ///< the number in full precision, as text
    };
    static constexpr int kMostRows = 100'000, kMostColumns = 5'000; ///< of a page

    using QAbstractTableModel::QAbstractTableModel;
    void show(const ValueView& view);
    const ValueView& view() const { return m_view; }
    const SliceGrid& grid() const { return m_grid; }
    /// The largest magnitude, when it is known.
    void setLargest(std::optional<double> largest);

    size_t firstRow() const { return m_firstRow; }
    size_t firstColumn() const { return m_firstColumn; }
    bool paged() const { return m_grid.rows() > size_t(kMostRows) || m_grid.columns() > size_t(kMostColumns); }
    /// Turns to the page that holds this row and column of the grid.
    void turnTo(size_t row, size_t column);
    /// Of a position in the grid, after turning to its page.
    QModelIndex reveal(size_t position);
    size_t positionOf(const QModelIndex& index) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    /// The longest texts of cells and of row headers that can occur, for widths.
    QString widestCell() const;
    QString widestRow() const;

private:
    QString widestOfFew() const;
    QString cellText(size_t element) const;
    QString copyText(size_t element) const;
    QVariant strength(size_t element) const;

    ValueView m_view;
    SliceGrid m_grid;
    size_t m_firstRow = 0, m_firstColumn = 0;
    std::optional<double> m_largest;
};

} // namespace qs
