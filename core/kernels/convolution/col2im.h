// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace qs {

/// Windows over `image`: of `block` elements, `dilation` apart, moved by `stride` over the padded image. One entry an
/// axis.
struct WindowGrid {
    std::vector<int64_t> image, block, dilation, stride, padBefore, padAfter;
    /// Windows along an axis; below 1 when the image is too small.
    int64_t windows(size_t axis) const
    {
        const int64_t span = dilation[axis] * (block[axis] - 1) + 1;
        const int64_t room = image[axis] + padBefore[axis] + padAfter[axis] - span;
        return room < 0 ? 0 : room / stride[axis] + 1;
    }
};
/// Images of `planes` planes, each the sum of its windows (columns: planes x block elements x windows). Source: ONNX
/// Col2Im. T: float, double, int64_t.
template <class T> void col2im(const WindowGrid& g, int64_t planes, const T* columns, T* image);

} // namespace qs
