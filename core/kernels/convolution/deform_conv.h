// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace qs {

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
