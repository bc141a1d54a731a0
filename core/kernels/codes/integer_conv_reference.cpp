// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/codes/integer_conv.h"

namespace qs {

void integerConvReference(
    const IntegerConv& conv, Codes x, int32_t xZero, Codes w, std::span<const int32_t> wZero, int32_t* sums)
{
    const auto& c = conv;
    const int64_t perGroupIn = c.inChannels / c.groups, perGroupOut = c.outChannels / c.groups;
    int64_t next = 0;
    for (int64_t n = 0; n < c.batch; ++n)
        for (int64_t m = 0; m < c.outChannels; ++m)
            for (int64_t z = 0; z < c.out[0]; ++z)
                for (int64_t y = 0; y < c.out[1]; ++y)
                    for (int64_t p = 0; p < c.out[2]; ++p) {
                        int64_t sum = 0;
                        for (int64_t i = 0; i < perGroupIn * c.taps(); ++i) {
                            const int64_t tap = i % c.taps(), channel = i / c.taps();
                            const int64_t at = c.inputPosition({ z, y, p }, tap);
                            if (at < 0)
                                continue;
                            const int64_t plane = n * c.inChannels + m / perGroupOut * perGroupIn + channel;
                            sum += int64_t(x.at(plane * c.inPositions() + at) - xZero)
                                * (w.at((m * perGroupIn + channel) * c.taps() + tap) - pick(wZero, m));
                        }
                        sums[next++] = wrapped(sum);
                    }
}

} // namespace qs
