// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/kernels/convolution/window_shape.h"

#include <cstddef>
#include <cstdint>

namespace qs {

/// A copy of some rows of an image (row, column, channel) with a line of the cache between neighbouring pixels. Caches
/// find a line by some bits of its address: pixels a power of two apart contend for the few places of these bits, so
/// that the pixels under a window drive each other out.
class SpreadRows {
public:
    SpreadRows(const WindowShape& window, int64_t filters);

    /// Whether a copy pays: it has many channels, a power of two apart or near it, and is read by many filters.
    bool needed() const { return m_gap > 0; }
    int64_t mostRows() const { return m_mostRows; } ///< of the output, made of one copy
    size_t floats() const; ///< room for a copy; 0: not needed
    int64_t pixel() const { return m_channels + m_gap; } ///< floats from a pixel to the next; the channels: no copy
    int64_t inputRow() const { return m_in * pixel(); } ///< from a row of the input to the next
    int64_t inputImage() const { return m_down.in * inputRow(); }

    /// Copies what rows `firstRow` .. `lastRow` - 1 of the output read, of one image; rows count through all images of
    /// `x`. Returns where all images would begin if they lay there as the copy does.
    const float* copy(const float* x, int64_t firstRow, int64_t lastRow, float* room) const noexcept;

private:
    int64_t inputRows(int64_t outputRows) const;
    SpatialAxis m_down;
    int64_t m_in, m_channels, m_mostRows;
    int64_t m_gap; ///< floats
};

} // namespace qs
