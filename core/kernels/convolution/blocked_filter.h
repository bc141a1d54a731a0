// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

/// Filters of convolutions as ONNX Runtime keeps them for one CPU (com.microsoft.nchwc): blocks of output channels
/// with the channel of the block innermost. Source: ONNX Runtime, mlas reorder (described there as OIHWBo, OIHWBiBo).
namespace qs {

struct BlockedFilter {
    int64_t filters = 0; ///< a multiple of `block`
    int64_t channels = 0; ///< of one filter
    int64_t taps = 0; ///< elements of one filter and channel
    int64_t block = 0;
    bool blockedInput = false; ///< input channels come in blocks, too
};

/// The same elements as filters x channels x taps.
void unblockFilter(const BlockedFilter& f, const float* blocked, float* plain);

/// How unlikely these elements are in blocks of this size when each filter has a spread of its own: the sum over
/// filters of n * log(sum of squares). Of two sizes the one with less is right, if the difference is large against
/// sqrt(2 * all elements), what it is for numbers without any order. `perFilter`: elements of one filter.
double blockSpread(int64_t filters, int64_t perFilter, int64_t block, const float* blocked);

/// Channels of as many whole blocks as hold these.
inline int64_t filledUp(int64_t channels, int64_t block) { return (channels + block - 1) / block * block; }

/// Channels in a block on this CPU.
int64_t nativeChannelBlock();

} // namespace qs
