// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>

namespace qs {

/// First element, step and count along one axis.
struct SliceRange {
    int64_t start, step, count;
};

/// Slicing of an axis of `size`, as Slice clamps it: like numpy's, but backwards a start before the first element is
/// that one. Step is not 0.
inline SliceRange sliceRange(int64_t size, int64_t start, int64_t end, int64_t step)
{
    const auto fit
        = [&](int64_t v, int64_t low, int64_t high) { return std::clamp<int64_t>(v < 0 ? v + size : v, low, high); };
    if (step > 0) {
        const int64_t a = fit(start, 0, size), b = fit(end, 0, size);
        return { a, step, b > a ? (b - a - 1) / step + 1 : 0 };
    }
    if (size == 0)
        return { 0, step, 0 };
    const int64_t a = fit(start, 0, size - 1), b = fit(end, -1, size - 1);
    const uint64_t back = uint64_t(0) - static_cast<uint64_t>(step);
    return { a, step, a > b ? static_cast<int64_t>(static_cast<uint64_t>(a - b - 1) / back) + 1 : 0 };
}

} // namespace qs
