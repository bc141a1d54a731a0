// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/statistics/value_range.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/statistics/value_range.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace qs::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Whole pairs of vectors only; returns how many elements it took. Adding |x| finds NaN: a sum of magnitudes is NaN
/// only when one of them is.
size_t rangeVectors(const float* HWY_RESTRICT x, size_t n, ValueRange& range)
{
    const hn::ScalableTag<float> d;
    const size_t lanes = hn::Lanes(d);
    const auto infinity = hn::Set(d, std::numeric_limits<float>::infinity());
    auto low = infinity, high = hn::Neg(infinity), least = infinity, sum = hn::Zero(d);
    auto low2 = low, high2 = high, least2 = least, sum2 = sum;
    size_t i = 0;
    for (; i + 2 * lanes <= n; i += 2 * lanes) {
        const auto v = hn::LoadU(d, x + i), w = hn::LoadU(d, x + i + lanes);
        const auto a = hn::Abs(v), b = hn::Abs(w);
        low = hn::Min(low, v);
        low2 = hn::Min(low2, w);
        high = hn::Max(high, v);
        high2 = hn::Max(high2, w);
        least = hn::Min(least, a);
        least2 = hn::Min(least2, b);
        sum = hn::Add(sum, a);
        sum2 = hn::Add(sum2, b);
    }
    if (i > 0) {
        range.low = hn::GetLane(hn::MinOfLanes(d, hn::Min(low, low2)));
        range.high = hn::GetLane(hn::MaxOfLanes(d, hn::Max(high, high2)));
        range.least = hn::GetLane(hn::MinOfLanes(d, hn::Min(least, least2)));
        range.nan = !hn::AllFalse(d, hn::IsNaN(hn::Add(sum, sum2)));
    }
    return i;
}

/// Whole vectors only; returns how many elements it took, `found` counts the written ones. The side of a value is its
/// bits with some cleared and some flipped.
size_t aboveVectors(
    const float* HWY_RESTRICT x, size_t n, ValueSide side, float limit, float* HWY_RESTRICT to, size_t& found)
{
    const hn::ScalableTag<float> d;
    const hn::ScalableTag<uint32_t> du;
    const size_t lanes = hn::Lanes(d);
    const auto kept = hn::BitCast(d, hn::Set(du, side == ValueSide::Magnitude ? 0x7fffffffu : 0xffffffffu));
    const auto flipped = hn::BitCast(d, hn::Set(du, side == ValueSide::Lower ? 0x80000000u : 0u));
    const auto least = hn::Set(d, limit);
    size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        const auto v = hn::Xor(hn::And(hn::LoadU(d, x + i), kept), flipped);
        const auto above = hn::Gt(v, least);
        if (HWY_UNLIKELY(!hn::AllFalse(d, above))) {
            hn::StoreU(hn::Compress(v, above), d, to + found);
            found += hn::CountTrue(d, above);
        }
    }
    return i;
}

} // namespace qs::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace qs {

HWY_EXPORT(rangeVectors);
HWY_EXPORT(aboveVectors);
static_assert(kValuesAboveSpare >= HWY_MAX_BYTES / sizeof(float));

bool ValueRange::allFinite() const
{
    constexpr float kMost = std::numeric_limits<float>::max();
    return !nan && (empty() || (low >= -kMost && high <= kMost));
}

float ValueRange::magnitude() const { return empty() ? 0.0f : std::max(std::fabs(low), std::fabs(high)); }

void ValueRange::merge(const ValueRange& other)
{
    low = std::min(low, other.low);
    high = std::max(high, other.high);
    least = std::min(least, other.least);
    nan = nan || other.nan;
}

ValueRange valueRangeReference(std::span<const float> x)
{
    ValueRange range;
    for (const float v : x) {
        if (std::isnan(v)) {
            range.nan = true;
            continue;
        }
        range.low = std::min(range.low, v);
        range.high = std::max(range.high, v);
        range.least = std::min(range.least, std::fabs(v));
    }
    return range;
}

ValueRange valueRange(std::span<const float> x)
{
    ValueRange range;
    const size_t done = HWY_DYNAMIC_DISPATCH(rangeVectors)(x.data(), x.size(), range);
    if (range.nan)
        return valueRangeReference(x); // what Min and Max make of NaN depends on the CPU
    range.merge(valueRangeReference(x.subspan(done)));
    return range;
}

MagnitudeGap magnitudeGap(std::span<const float> x, float limit)
{
    MagnitudeGap gap;
    for (const float v : x) {
        const float a = std::fabs(v);
        if (a < limit)
            gap.below = std::max(gap.below, a);
        else if (a >= limit)
            gap.above = std::min(gap.above, a);
    }
    return gap;
}

size_t valuesAboveReference(std::span<const float> x, ValueSide side, float limit, float* to)
{
    size_t found = 0;
    for (const float value : x) {
        const float v = side == ValueSide::Magnitude ? std::fabs(value) : side == ValueSide::Lower ? -value : value;
        if (v > limit)
            to[found++] = v;
    }
    return found;
}

size_t valuesAbove(std::span<const float> x, ValueSide side, float limit, float* to)
{
    size_t found = 0;
    const size_t done = HWY_DYNAMIC_DISPATCH(aboveVectors)(x.data(), x.size(), side, limit, to, found);
    return found + valuesAboveReference(x.subspan(done), side, limit, to + found);
}

} // namespace qs
#endif
