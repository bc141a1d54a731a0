// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/tensor/shape.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// Indices first, first + step, ... of one axis, `count` of them.
struct AxisSlice {
    int64_t first = 0, count = 1, step = 1;
    bool fixed = false; ///< one index was given: the axis is not there any more
    bool operator==(const AxisSlice&) const = default;
};

/// Elements of a tensor as numpy's basic indexing names them; one AxisSlice an axis.
struct TensorSlice {
    std::vector<AxisSlice> axes;
    static TensorSlice whole(const Shape& shape);
    bool isWhole(const Shape& shape) const { return *this == whole(shape); }
    size_t count() const;
    Shape shape() const; ///< of the result, without fixed axes
    std::vector<size_t> ranges() const; ///< axes that are not fixed
    bool operator==(const TensorSlice&) const = default;
};

/// Reads "0, ::2, 10:20, -1"; "..." stands for as many ":" as fit, axes that are left out are whole. Ranges are cut as
/// numpy cuts them. The issue says which axis is wrong and why.
Result<TensorSlice> parseSlice(std::string_view text, const Shape& shape);
/// "0, ::2, :, 3": what parseSlice() reads.
std::string sliceText(const TensorSlice& slice, const Shape& shape);

/// A slice as rows and columns: one of its axes goes across, the others are the rows, the last one fastest. Without an
/// axis to go across there is one column.
class SliceGrid {
public:
    SliceGrid() = default;
    /// `across`: an axis of the slice that is not fixed.
    SliceGrid(const TensorSlice& slice, const Shape& shape, std::optional<size_t> across);
    /// In the slice's own order: its last axis goes across.
    static SliceGrid inOrder(const TensorSlice& slice, const Shape& shape);

    size_t rows() const { return m_rows; }
    size_t columns() const { return m_columns; }
    size_t count() const { return m_rows * m_columns; }
    /// Row-major index of an element in the tensor.
    size_t at(size_t row, size_t column) const { return rowBegin(row) + size_t(int64_t(column) * m_columnStep); }
    size_t at(size_t position) const { return at(position / m_columns, position % m_columns); }
    /// The inverse; nothing where the slice does not hold the element.
    std::optional<size_t> positionOf(size_t element) const;
    /// Indices of a row along the axes that go down.
    std::vector<int64_t> rowIndices(size_t row) const;
    int64_t columnIndex(size_t column) const;
    /// Calls run(first element, step, n) for each row, in order, until one of them returns false.
    void eachRow(auto run) const
    {
        for (size_t row = 0; row < m_rows && m_columns > 0; ++row)
            if (!run(rowBegin(row), m_columnStep, m_columns))
                return;
    }

private:
    struct Axis {
        AxisSlice slice;
        int64_t stride = 1;
    };
    size_t rowBegin(size_t row) const;
    TensorSlice m_slice;
    Shape m_shape;
    std::vector<Axis> m_down;
    std::optional<Axis> m_acrossAxis;
    std::optional<size_t> m_across;
    size_t m_rows = 0, m_columns = 0;
    int64_t m_base = 0, m_columnStep = 0; ///< in elements of the tensor
};

/// Indices of a row-major element.
std::vector<int64_t> indicesOf(size_t element, const Shape& shape);

} // namespace qs
