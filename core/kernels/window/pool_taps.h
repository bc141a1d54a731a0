// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/kernels/convolution/window_shape.h"

#include <algorithm>

namespace qs {

/// Kernel positions first..last-1 of the window at output position `o` that lie inside the input.
struct TapRange {
    int64_t first;
    int64_t last;
    int64_t start; ///< input position of tap 0, may be negative
};

inline TapRange tapRange(const SpatialAxis& a, int64_t o)
{
    const int64_t start = o * a.stride - a.padBegin;
    const int64_t first = start >= 0 ? 0 : (-start + a.dilation - 1) / a.dilation;
    const int64_t fit = a.in > start ? (a.in - start + a.dilation - 1) / a.dilation : 0;
    return { std::min(first, a.kernel), std::max(std::min(first, a.kernel), std::min(a.kernel, fit)), start };
}

/// Calls visit(input position) for each tap inside the input.
template <class Visit> void forEachTap(const WindowShape& s, const TapRange (&t)[3], Visit visit)
{
    const auto& [d, h, w] = s.axes;
    for (int64_t kd = t[0].first; kd < t[0].last; ++kd)
        for (int64_t kh = t[1].first; kh < t[1].last; ++kh) {
            const int64_t row = ((t[0].start + kd * d.dilation) * h.in + t[1].start + kh * h.dilation) * w.in;
            for (int64_t kw = t[2].first; kw < t[2].last; ++kw)
                visit(row + t[2].start + kw * w.dilation);
        }
}

/// Calls visit(output position, tap ranges) in row-major order.
template <class Visit> void forEachWindow(const WindowShape& s, Visit visit)
{
    int64_t position = 0;
    for (int64_t d = 0; d < s.axes[0].out; ++d)
        for (int64_t h = 0; h < s.axes[1].out; ++h)
            for (int64_t w = 0; w < s.axes[2].out; ++w) {
                const TapRange taps[3] { tapRange(s.axes[0], d), tapRange(s.axes[1], h), tapRange(s.axes[2], w) };
                visit(position++, taps);
            }
}

/// Positions of one window along one axis that lie inside the input or its padding.
inline int64_t paddedTaps(const SpatialAxis& a, const TapRange& t)
{
    const int64_t room = a.in + a.padEnd - t.start;
    return std::clamp<int64_t>((room + a.dilation - 1) / a.dilation, 0, a.kernel);
}

} // namespace qs
