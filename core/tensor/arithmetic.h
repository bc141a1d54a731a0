// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <limits>
#include <span>

namespace qs {

inline int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

inline int64_t product(std::span<const int64_t> sizes)
{
    int64_t n = 1;
    for (int64_t size : sizes)
        n *= size;
    return n;
}

/// What every value of the type is at least.
template <class T> constexpr T lowest()
{
    if constexpr (std::numeric_limits<T>::has_infinity)
        return -std::numeric_limits<T>::infinity();
    return std::numeric_limits<T>::lowest();
}

} // namespace qs
