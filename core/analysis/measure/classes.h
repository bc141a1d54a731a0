// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace qs {

/// The class that an output names: the index of its largest element; NaN never wins.
inline int64_t argmax(const float* v, size_t n)
{
    size_t best = 0;
    for (size_t i = 1; i < n; ++i)
        if (v[i] > v[best] || std::isnan(v[best]))
            best = i;
    return static_cast<int64_t>(best);
}

} // namespace qs
