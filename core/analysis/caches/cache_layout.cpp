// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/caches/cache_layout.h"

#include <algorithm>

namespace qs {

int64_t RotaryPairs::partner(int64_t channel, int64_t size) const
{
    const int64_t turned = rotated > 0 ? std::min(rotated, size) : size;
    if (channel >= turned / 2 * 2)
        return channel;
    if (interleaved)
        return channel ^ 1;
    return channel < turned / 2 ? channel + turned / 2 : channel - turned / 2;
}

} // namespace qs
