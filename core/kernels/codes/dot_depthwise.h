// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/kernels/codes/dot_product.h"

#include <array>

/// Depthwise convolutions of channels-last codes with the instruction of dot_product.h: the codes that four taps read
/// are interleaved channel by channel. Only for CPUs where hasDotProducts() and weights without zero points.
namespace qs {

/// Weights and what else there is for each channel, in the order of the interleaved vectors: blocks of 64 channels, the
/// last one of 32 or 64.
struct DotDepthwise {
    int64_t channels = 0, kernelRows = 0, kernelColumns = 0;
    std::vector<std::array<int64_t, 4>> fours; ///< taps that are multiplied together; -1 = none
    LineVector<int8_t> weights;
    std::vector<int32_t> sums; ///< of each channel's weights
};
/// w: channels x taps; less their zero points they fit in 8 signed bits. The taps are rows x columns, the rows of
/// several axes counted on.
DotDepthwise packDepthwise(
    Codes w, std::span<const int32_t> zeroPoints, int64_t channels, int64_t kernelRows, int64_t kernelColumns);
/// Requantization in the order of the blocks; leftZero as in dotStart().
DotEpilogue depthwiseEpilogue(
    const DotDepthwise& w, int32_t leftZero, std::span<const int32_t> bias, std::span<const float> multiplier);

/// A part of one output row.
struct DepthwiseLine {
    std::span<const uint8_t* const> rows; ///< input row of each kernel row; null = outside
    int64_t width = 0; ///< positions of an input row
    int64_t stride = 1, dilation = 1, pad = 0; ///< along the row
    int64_t first = 0, last = 0; ///< output positions
    const uint8_t* zeros = nullptr; ///< what positions outside hold: one code a channel, as the input has them
    uint8_t flip = 0; ///< 0x80 where the input is signed
};
/// Codes of positions first..last-1, one after another.
void depthwiseCodes(const DepthwiseLine& line, const DotDepthwise& w, const DotEpilogue& epilogue, uint8_t* out);
/// Their sums (plus start).
void depthwiseSums(const DepthwiseLine& line, const DotDepthwise& w, const DotEpilogue& epilogue, int32_t* out);

} // namespace qs
