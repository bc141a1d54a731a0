// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace qs {

/// NumPy's sum of a contiguous array: pairwise over blocks of 128, each in eight interleaved sums. Equal to the last
/// bit.
template <class T> T numpySum(std::span<const T> x)
{
    if (x.size() < 8) {
        T sum = T(-0.0);
        for (const T v : x)
            sum += v;
        return sum;
    }
    if (x.size() <= 128) {
        std::array<T, 8> part;
        for (size_t k = 0; k < 8; ++k)
            part[k] = x[k];
        size_t i = 8;
        for (; i + 8 <= x.size(); i += 8)
            for (size_t k = 0; k < 8; ++k)
                part[k] += x[i + k];
        T sum = ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
        for (; i < x.size(); ++i)
            sum += x[i];
        return sum;
    }
    const size_t half = x.size() / 2, left = half - half % 8;
    return numpySum(x.first(left)) + numpySum(x.subspan(left));
}

} // namespace qs
