// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/kernels/codes/integer_product.h"

/// Depthwise convolutions of channels-last codes on every CPU: products of two taps are added at a time, exactly.
namespace qs {

/// Weights, zero points taken off.
struct PackedDepthwise {
    int64_t taps = 0, channels = 0;
    LineVector<int16_t> pairs; ///< for each two taps (the last one's second may be missing: 0) those of each channel
    std::vector<int32_t> sums; ///< of each channel's weights
    bool empty() const { return channels == 0; }
};
/// w: channels x taps.
PackedDepthwise packDepthwisePairs(Codes w, std::span<const int32_t> zeroPoints, int64_t channels, int64_t taps);

/// Output positions whose taps move on together.
struct DepthwiseRun {
    std::span<const uint8_t* const> taps; ///< where each tap of the first position reads its first channel
    int64_t positions = 1, step = 0; ///< codes from one position to the next
    bool isSigned = false;
};
/// sums[p * channels + c] = start[c] + sum over taps t of taps[t][p * step + c] * weight of t and c.
void depthwisePairSums(const DepthwiseRun& run, const PackedDepthwise& w, const int32_t* start, int32_t* sums);

} // namespace qs
