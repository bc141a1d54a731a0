// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/bins.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/bins.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace qs::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Whole vectors only; returns how many elements it took.
size_t extremeVectors(const float* HWY_RESTRICT x, size_t n, FloatExtremes& e)
{
    const hn::ScalableTag<float> d;
    const size_t lanes = hn::Lanes(d);
    const auto infinity = hn::Set(d, std::numeric_limits<float>::infinity());
    auto low = infinity, high = hn::Neg(infinity);
    size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        const auto v = hn::LoadU(d, x + i);
        const auto finite = hn::IsFinite(v);
        low = hn::Min(low, hn::IfThenElse(finite, v, infinity));
        high = hn::Max(high, hn::IfThenElse(finite, v, hn::Neg(infinity)));
        if (HWY_UNLIKELY(!hn::AllTrue(d, finite)))
            e.nonFinite += lanes - hn::CountTrue(d, finite);
    }
    HWY_ALIGN float lane[HWY_MAX_BYTES / sizeof(float)];
    hn::Store(low, d, lane);
    for (size_t k = 0; k < lanes; ++k)
        e.low = std::min(e.low, lane[k]);
    hn::Store(high, d, lane);
    for (size_t k = 0; k < lanes; ++k)
        e.high = std::max(e.high, lane[k]);
    return i;
}

/// floor(x * inverse) - first for whole vectors; returns how many elements it took. A negative value that underflows
/// still lies below zero.
size_t binVectors(const float* HWY_RESTRICT x, size_t n, float inverse, int32_t first, int32_t* HWY_RESTRICT bins)
{
    const hn::ScalableTag<float> d;
    const hn::RebindToSigned<decltype(d)> di;
    const size_t lanes = hn::Lanes(d);
    const auto vInverse = hn::Set(d, inverse), zero = hn::Zero(d);
    const auto vFirst = hn::Set(di, first), one = hn::Set(di, 1), none = hn::Zero(di);
    size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        const auto v = hn::LoadU(d, x + i);
        const auto scaled = hn::Mul(v, vInverse);
        const auto truncated = hn::ConvertTo(di, scaled);
        const auto above = hn::RebindMask(di, hn::Lt(scaled, hn::ConvertTo(d, truncated)));
        const auto vanished = hn::And(hn::RebindMask(di, hn::Lt(v, zero)), hn::Eq(truncated, none));
        const auto floor = hn::Sub(truncated, hn::IfThenElseZero(hn::Or(above, vanished), one));
        hn::StoreU(hn::Sub(floor, vFirst), di, bins + i);
    }
    return i;
}

} // namespace qs::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace qs {

HWY_EXPORT(extremeVectors);
HWY_EXPORT(binVectors);

namespace {

constexpr FloatExtremes kNothing { std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(), 0 };

void addExtremes(std::span<const float> x, FloatExtremes& e)
{
    for (const float v : x) {
        if (!std::isfinite(v)) {
            ++e.nonFinite;
            continue;
        }
        e.low = std::min(e.low, v);
        e.high = std::max(e.high, v);
    }
}

int32_t binOf(float value, double inverseWidth)
{
    return static_cast<int32_t>(std::floor(double(value) * inverseWidth));
}

} // namespace

FloatExtremes floatExtremesReference(std::span<const float> x)
{
    FloatExtremes e = kNothing;
    addExtremes(x, e);
    return e;
}

FloatExtremes floatExtremes(std::span<const float> x)
{
    FloatExtremes e = kNothing;
    const size_t done = HWY_DYNAMIC_DISPATCH(extremeVectors)(x.data(), x.size(), e);
    addExtremes(x.subspan(done), e);
    return e;
}

void countBinsReference(std::span<const float> x, int exponent, int32_t first, std::span<uint64_t> counts)
{
    const double inverse = std::ldexp(1.0, -exponent);
    for (const float v : x)
        ++counts[static_cast<size_t>(binOf(v, inverse) - first)];
}

/// Indices of a block at a time, counted in turns in four tables, so that runs of equal values do not wait for each
/// other. Scaling by a power of two is exact.
void countBins(std::span<const float> x, int exponent, int32_t first, std::span<uint64_t> counts)
{
    constexpr size_t kBlock = 1024;
    constexpr size_t kFlush = size_t(1) << 31; // 32-bit counters
    constexpr size_t kWorthTables = 8;
    const bool normal = exponent > -127 && exponent < 126; // 2^-exponent is a normal float
    if (!normal || x.size() < kWorthTables * counts.size())
        return countBinsReference(x, exponent, first, counts);
    const float inverse = std::ldexp(1.0f, -exponent);
    const double wideInverse = std::ldexp(1.0, -exponent);
    std::array<int32_t, kBlock> block;
    std::array<std::array<uint32_t, kMostBins>, 4> tables;
    for (size_t start = 0; start < x.size(); start += kFlush) {
        const auto part = x.subspan(start, std::min(kFlush, x.size() - start));
        for (auto& table : tables)
            std::fill_n(table.begin(), counts.size(), 0u);
        for (size_t begin = 0; begin < part.size(); begin += kBlock) {
            const size_t n = std::min(kBlock, part.size() - begin);
            for (size_t i = HWY_DYNAMIC_DISPATCH(binVectors)(&part[begin], n, inverse, first, block.data()); i < n; ++i)
                block[i] = binOf(part[begin + i], wideInverse) - first;
            size_t i = 0;
            for (; i + 4 <= n; i += 4)
                for (size_t t = 0; t < 4; ++t)
                    ++tables[t][static_cast<uint32_t>(block[i + t])];
            for (; i < n; ++i)
                ++tables[0][static_cast<uint32_t>(block[i])];
        }
        for (size_t i = 0; i < counts.size(); ++i)
            counts[i] += uint64_t(tables[0][i]) + tables[1][i] + tables[2][i] + tables[3][i];
    }
}

} // namespace qs
#endif
