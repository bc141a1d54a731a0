// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/kernels/convolution/window_shape.h"

#include <cstddef>
#include <cstdint>

namespace qs {

/// A copy of some rows of images (row, column, channel) with a line of the cache between neighbouring pixels. Caches
/// find a line by some bits of its address: pixels a multiple of 1 kB apart contend for the few places of these bits,
/// so that those under a window drive each other out.
class SpreadRows {
public:
    SpreadRows(const WindowShape& window, int64_t filters);

    /// Whether a copy pays: pixels contend, many filters read it, and it is no larger than needed.
    bool needed() const { return m_gap > 0; }
    size_t floats() const; ///< room for a copy; 0: not needed
    int64_t pixel() const { return m_channels + m_gap; } ///< floats from a pixel to the next; the channels: no copy
    int64_t inputRow() const { return m_in * pixel(); } ///< from a row of the input to the next
    int64_t inputImage() const { return m_down.in * inputRow(); }

    /// The end of the rows of the output that are made of the copy that begins with row `row`, `last` at most: some of
    /// an image, or some images. Rows count through all images.
    int64_t lastRow(int64_t row, int64_t last) const;
    /// Copies what rows `firstRow` .. `lastRow` - 1 of the output read, as lastRow() cuts them. Returns where all
    /// images would begin if they lay there as the copy does.
    const float* copy(const float* x, int64_t firstRow, int64_t lastRow, float* room) const noexcept;

private:
    int64_t inputRows(int64_t outputRows) const; ///< of an image
    SpatialAxis m_down;
    int64_t m_in, m_channels;
    int64_t m_mostRows; ///< of the output, of an image
    int64_t m_images; ///< of one copy
    int64_t m_gap; ///< floats
};

} // namespace qs
