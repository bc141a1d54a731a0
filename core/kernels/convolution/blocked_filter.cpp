// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/convolution/blocked_filter.h"

#include <cmath>
#include <vector>

namespace qs {

void unblockFilter(const BlockedFilter& f, const float* blocked, float* plain)
{
    const int64_t inputBlock = f.blockedInput ? f.block : 1;
    for (int64_t o = 0; o < f.filters; ++o)
        for (int64_t i = 0; i < f.channels; ++i)
            for (int64_t t = 0; t < f.taps; ++t) {
                int64_t at = o / f.block * (f.channels / inputBlock) + i / inputBlock;
                at = (at * f.taps + t) * inputBlock + i % inputBlock;
                *plain++ = blocked[at * f.block + o % f.block];
            }
}

double blockSpread(int64_t filters, int64_t perFilter, int64_t block, const float* blocked)
{
    constexpr double kLeast = 1e-30; // filters that only fill a block up are all zero
    double spread = 0;
    std::vector<double> squares(static_cast<size_t>(block));
    for (int64_t o = 0; o < filters; o += block) {
        squares.assign(squares.size(), kLeast);
        for (int64_t i = 0; i < perFilter; ++i, blocked += block)
            for (size_t b = 0; b < squares.size(); ++b)
                squares[b] += double(blocked[b]) * double(blocked[b]);
        for (double s : squares)
            spread += double(perFilter) * std::log(s);
    }
    return spread;
}

int64_t nativeChannelBlock()
{
#if defined(__x86_64__) || defined(__i386__)
    return __builtin_cpu_supports("avx512f") ? 16 : 8;
#else
    return 16;
#endif
}

} // namespace qs
