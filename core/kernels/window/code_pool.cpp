// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/window/code_pool.h"

#include "core/kernels/cpu/highway_targets.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/window/code_pool.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace qs::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class T> void largest(const uint8_t* const* taps, size_t count, int64_t n, uint8_t* out)
{
    const hn::ScalableTag<T> d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    const auto at = [&](size_t t) { return reinterpret_cast<const T*>(taps[t]); };
    auto* to = reinterpret_cast<T*>(out);
    int64_t c = 0;
    for (; c + lanes <= n; c += lanes) {
        auto best = hn::LoadU(d, at(0) + c);
        for (size_t t = 1; t < count; ++t)
            best = hn::Max(best, hn::LoadU(d, at(t) + c));
        hn::StoreU(best, d, to + c);
    }
    for (; c < n; ++c) {
        T best = at(0)[c];
        for (size_t t = 1; t < count; ++t)
            best = std::max(best, at(t)[c]);
        to[c] = best;
    }
}

void largestU8(const uint8_t* const* taps, size_t count, int64_t n, uint8_t* out)
{
    largest<uint8_t>(taps, count, n, out);
}
void largestS8(const uint8_t* const* taps, size_t count, int64_t n, uint8_t* out)
{
    largest<int8_t>(taps, count, n, out);
}

template <class T> void sumRows(const T* x, int64_t rows, int64_t n, int32_t* sums)
{
    const hn::ScalableTag<int32_t> d;
    const hn::Rebind<T, decltype(d)> d8;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    int64_t c = 0;
    for (; c + 4 * lanes <= n; c += 4 * lanes) { // four sums: none waits for the one before
        auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
        for (int64_t r = 0; r < rows; ++r) {
            const T* from = x + r * n + c;
            s0 = hn::Add(s0, hn::PromoteTo(d, hn::LoadU(d8, from)));
            s1 = hn::Add(s1, hn::PromoteTo(d, hn::LoadU(d8, from + lanes)));
            s2 = hn::Add(s2, hn::PromoteTo(d, hn::LoadU(d8, from + 2 * lanes)));
            s3 = hn::Add(s3, hn::PromoteTo(d, hn::LoadU(d8, from + 3 * lanes)));
        }
        hn::StoreU(s0, d, sums + c);
        hn::StoreU(s1, d, sums + c + lanes);
        hn::StoreU(s2, d, sums + c + 2 * lanes);
        hn::StoreU(s3, d, sums + c + 3 * lanes);
    }
    for (; c < n; ++c) {
        int32_t sum = 0;
        for (int64_t r = 0; r < rows; ++r)
            sum += x[r * n + c];
        sums[c] = sum;
    }
}

void sumRowsU8(const uint8_t* x, int64_t rows, int64_t n, int32_t* sums) { sumRows(x, rows, n, sums); }
void sumRowsS8(const int8_t* x, int64_t rows, int64_t n, int32_t* sums) { sumRows(x, rows, n, sums); }

} // namespace
} // namespace qs::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace qs {
HWY_EXPORT(largestU8);
HWY_EXPORT(largestS8);
HWY_EXPORT(sumRowsU8);
HWY_EXPORT(sumRowsS8);

void largestCodes(std::span<const uint8_t* const> taps, bool isSigned, int64_t n, uint8_t* out)
{
    if (isSigned)
        HWY_DYNAMIC_DISPATCH(largestS8)(taps.data(), taps.size(), n, out);
    else
        HWY_DYNAMIC_DISPATCH(largestU8)(taps.data(), taps.size(), n, out);
}

void sumCodeRows(Codes x, int64_t rows, int64_t n, int32_t* sums)
{
    if (x.isSigned)
        HWY_DYNAMIC_DISPATCH(sumRowsS8)(reinterpret_cast<const int8_t*>(x.data), rows, n, sums);
    else
        HWY_DYNAMIC_DISPATCH(sumRowsU8)(x.data, rows, n, sums);
}

} // namespace qs
#endif
