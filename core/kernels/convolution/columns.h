// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

/// Convolution windows taken apart.
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
template <class T> void columnsToImage(const WindowGrid& g, int64_t planes, const T* columns, T* image);

/// One sample of a convolution whose window elements are moved by offsets. Source: Dai et al., Deformable
/// Convolutional Networks; ONNX DeformConv.
struct DeformConv {
    int64_t inChannels = 1, outChannels = 1, groups = 1, offsetGroups = 1;
    int64_t height = 1, width = 1, kernelHeight = 1, kernelWidth = 1, outHeight = 1, outWidth = 1;
    int64_t strideY = 1, strideX = 1, dilationY = 1, dilationX = 1, padTop = 0, padLeft = 0;
};
/// x: inChannels x height x width; offset: offsetGroups x kernel x 2 x out; mask: offsetGroups x kernel x out, or null;
/// bias may be null. T: float and double.
template <class T>
void deformConv(const DeformConv& s, const T* x, const T* weight, const T* offset, const T* bias, const T* mask, T* y);

} // namespace qs
