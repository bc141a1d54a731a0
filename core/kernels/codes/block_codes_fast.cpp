// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/codes/block_codes.h"

#include "core/kernels/cpu/highway_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/codes/block_codes_fast.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace qs::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// Exact: 127 * 255 * 2^15 elements fit.
int32_t dot(const int8_t* a, const int16_t* b, int64_t n)
{
#if HWY_TARGET == HWY_SCALAR
    int32_t sum = 0;
    for (int64_t k = 0; k < n; ++k)
        sum += a[k] * b[k];
    return sum;
#else
    const hn::CappedTag<int16_t, 16> d16;
    const hn::Rebind<int8_t, decltype(d16)> d8;
    const hn::Repartition<int32_t, decltype(d16)> d32;
    auto low = hn::Zero(d32), high = hn::Zero(d32);
    for (int64_t k = 0; k < n; k += static_cast<int64_t>(hn::Lanes(d16))) {
        const auto va = hn::PromoteTo(d16, hn::LoadU(d8, a + k));
        low = hn::ReorderWidenMulAccumulate(d32, va, hn::LoadU(d16, b + k), low, high);
    }
    return hn::GetLane(hn::SumOfLanes(d32, hn::Add(low, high)));
#endif
}

void multiply(const int8_t* a, const float* aScale, const WideBlocks& b, float* out)
{
    const int64_t depth = b.blocks * b.blockSize;
    for (int64_t r = 0; r < b.rows; ++r) {
        const int16_t* codes = b.codes.data() + r * depth;
        const float* scale = b.scale.data() + r * b.blocks;
        double total = 0;
        for (int64_t block = 0; block < b.blocks; ++block) {
            const int64_t at = block * b.blockSize;
            total += double(aScale[block]) * double(scale[block]) * double(dot(a + at, codes + at, b.blockSize));
        }
        out[r] = float(total);
    }
}

} // namespace
} // namespace qs::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace qs {
HWY_EXPORT(multiply);

void multiplyBlocks(const int8_t* a, const float* aScale, const WideBlocks& b, float* out) noexcept
{
    HWY_DYNAMIC_DISPATCH(multiply)(a, aScale, b, out);
}

} // namespace qs
#endif
