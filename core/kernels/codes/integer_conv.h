// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/kernels/codes/integer_depthwise.h"

#include <array>

namespace qs {

/// Sizes of a convolution over up to three spatial axes (unused leading ones are 1). Positions outside the input count
/// as its zero point.
struct IntegerConv {
    using Triple = std::array<int64_t, 3>;
    int64_t batch = 1, inChannels = 1, outChannels = 1, groups = 1;
    Triple in { 1, 1, 1 }, out { 1, 1, 1 }, kernel { 1, 1, 1 };
    Triple stride { 1, 1, 1 }, dilation { 1, 1, 1 }, pad { 0, 0, 0 };

    int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
    int64_t inPositions() const { return in[0] * in[1] * in[2]; }
    int64_t outPositions() const { return out[0] * out[1] * out[2]; }
    bool depthwise() const { return groups > 1 && groups == inChannels && groups == outChannels; }
    /// Each output position reads the input position of its own place and no other.
    bool readsOwnPositions() const
    {
        return taps() == 1 && stride == Triple { 1, 1, 1 } && pad == Triple {} && in == out;
    }
    /// Row-major input position that `tap` of the output position reads; -1 = outside.
    int64_t inputPosition(const Triple& at, int64_t tap) const;
};

/// Everything plain: x [N, C, spatial], w [M, C / groups, kernel], sums [N, M, spatial].
void integerConvReference(
    const IntegerConv& conv, Codes x, int32_t xZero, Codes w, std::span<const int32_t> wZero, int32_t* sums);

/// Entries of one group of output channels; lists of one entry or none hold for all.
template <class T> std::span<const T> groupOf(std::span<const T> list, int64_t group, int64_t columns)
{
    if (list.size() <= 1)
        return list;
    return list.subspan(static_cast<size_t>(group * columns), static_cast<size_t>(columns));
}
/// Weights of one group as [M / groups, taps, C / groups], the order in which gathered inputs stand.
std::vector<uint8_t> channelsLastWeights(const IntegerConv& conv, Codes w, int64_t group);

/// Weights [M, C / groups, kernel] in the order in which integerConvRows() reads them.
struct PackedConvWeights {
    std::vector<PackedCodes> groups; ///< one a group; depth = taps x channels of the group
    PackedDepthwise depthwise;
};
PackedConvWeights packConvWeights(const IntegerConv& conv, Codes w, std::span<const int32_t> wZero);

/// 16-bit numbers of scratch, 4-byte aligned, that integerConvRows() and integerConvCodes() need for `count` positions.
int64_t integerConvScratch(const IntegerConv& conv, int64_t count);
/// Sums of output positions first..first+count-1 of one batch item, x channels-last: sums[position][M].
void integerConvRows(const IntegerConv& conv, Codes x, int32_t xZero, const PackedConvWeights& w, int64_t first,
    int64_t count, int16_t* scratch, int32_t* sums);
/// Their codes; not of depthwise convolutions.
void integerConvCodes(const IntegerConv& conv, Codes x, int32_t xZero, const PackedConvWeights& w, int64_t first,
    int64_t count, int16_t* scratch, const Requantization& q, uint8_t* out);

} // namespace qs
