// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/statistics/bins.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/statistics/bins.cpp"
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

#if HWY_TARGET <= HWY_AVX3
/// floor(x * inverse) - first of whole vectors into 16 bits, for |first| <= 2^23; returns how many elements it took.
/// The product is exact inside the fused addition, whose sum lies between 2^23 and 2^24, where floats are whole
/// numbers: rounding down is the floor, and the lowest bits are the bin.
size_t binNear(const float* HWY_RESTRICT x, size_t n, float inverse, int32_t first, uint16_t* HWY_RESTRICT bins)
{
    const __m512 scale = _mm512_set1_ps(inverse), offset = _mm512_set1_ps(float((1 << 23) - first));
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        const __m512 sum
            = _mm512_fmadd_round_ps(_mm512_loadu_ps(x + i), scale, offset, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(bins + i), _mm512_cvtepi32_epi16(_mm512_castps_si512(sum)));
    }
    return i;
}
#endif

/// The same for any `first`. A negative value that underflows still lies below zero.
size_t binVectors(const float* HWY_RESTRICT x, size_t n, float inverse, int32_t first, uint16_t* HWY_RESTRICT bins)
{
#if HWY_TARGET <= HWY_AVX3
    if (first >= -(1 << 23) && first <= (1 << 23))
        return binNear(x, n, inverse, first, bins);
#endif
    const hn::ScalableTag<float> d;
    const hn::RebindToSigned<decltype(d)> di;
    const hn::Rebind<uint16_t, decltype(d)> dn;
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
        hn::StoreU(hn::DemoteTo(dn, hn::Sub(floor, vFirst)), dn, bins + i);
    }
    return i;
}

/// Index of the first vector that holds a code whose bit is not set in `seen` (32 bytes, code 8 k + b in bit b of byte
/// k), or where no whole vector is left.
#if HWY_TARGET == HWY_SCALAR
size_t firstUnseen(const uint8_t*, size_t, const uint8_t*) { return 0; }
#else
size_t firstUnseen(const uint8_t* HWY_RESTRICT codes, size_t n, const uint8_t* HWY_RESTRICT seen)
{
    const hn::ScalableTag<uint8_t> d;
    const hn::Repartition<uint16_t, decltype(d)> dw;
    const size_t lanes = hn::Lanes(d);
    const auto low = hn::LoadDup128(d, seen), high = hn::LoadDup128(d, seen + 16);
    HWY_ALIGN static constexpr uint8_t kBits[16] = { 1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128 };
    const auto bits = hn::LoadDup128(d, kBits);
    const auto seven = hn::Set(d, uint8_t(7)), fifteen = hn::Set(d, uint8_t(15)), top = hn::Set(d, uint8_t(128));
    size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        const auto code = hn::LoadU(d, codes + i);
        const auto bit = hn::TableLookupBytes(bits, hn::And(code, seven));
        const auto place = hn::And(hn::BitCast(d, hn::ShiftRight<3>(hn::BitCast(dw, code))), fifteen);
        const auto upper = hn::Eq(hn::And(code, top), top);
        const auto byte = hn::IfThenElse(upper, hn::TableLookupBytes(high, place), hn::TableLookupBytes(low, place));
        if (!hn::AllTrue(d, hn::Eq(hn::And(byte, bit), bit)))
            break;
    }
    return i;
}
#endif

} // namespace qs::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace qs {

HWY_EXPORT(extremeVectors);
HWY_EXPORT(binVectors);
HWY_EXPORT(firstUnseen);

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

/// Counters of the same bins, used in turns. Their distance keeps those of one bin in different places of the first
/// cache and apart in the twelve address bits by which a load recognizes the store before it.
template <size_t kBins> class CountTables {
public:
    void clear(size_t bins)
    {
        for (size_t t = 0; t < kTables; ++t)
            std::fill_n(&m_counts[t * kStride], bins, 0u);
    }
    template <class Index> void add(const Index* bins, size_t n)
    {
        size_t i = 0;
        for (; i + kTables <= n; i += kTables)
            for (size_t t = 0; t < kTables; ++t)
                ++m_counts[t * kStride + bins[i + t]];
        for (; i < n; ++i)
            ++m_counts[bins[i]];
    }
    template <class Count, size_t kExtent> void addTo(std::span<Count, kExtent> counts) const
    {
        for (size_t i = 0; i < counts.size(); ++i) {
            uint64_t sum = 0;
            for (size_t t = 0; t < kTables; ++t)
                sum += m_counts[t * kStride + i];
            counts[i] = static_cast<Count>(counts[i] + sum);
        }
    }

private:
    static constexpr size_t kTables = 4, kStride = kBins + 16;
    std::array<uint32_t, kTables * kStride> m_counts;
};

template <class Count>
void countOneByOne(std::span<const float> x, int exponent, int32_t first, std::span<Count> counts)
{
    const double inverse = std::ldexp(1.0, -exponent);
    for (const float v : x)
        ++counts[static_cast<size_t>(binOf(v, inverse) - first)];
}

/// Indices of a block at a time, counted in turns in four tables, so that runs of equal values do not wait for each
/// other. Scaling by a power of two is exact.
template <class Count>
void countInBlocks(std::span<const float> x, int exponent, int32_t first, std::span<Count> counts)
{
    constexpr size_t kBlock = 1024;
    constexpr size_t kFlush = size_t(1) << 31; // 32-bit counters
    constexpr size_t kWorthTables = 4;
    const bool normal = exponent > -127 && exponent < 126; // 2^-exponent is a normal float
    if (!normal)
        return countOneByOne(x, exponent, first, counts);
    const float inverse = std::ldexp(1.0f, -exponent);
    const double wideInverse = std::ldexp(1.0, -exponent);
    std::array<uint16_t, kBlock> block;
    auto findBins = [&](std::span<const float> v) {
        for (size_t i = HWY_DYNAMIC_DISPATCH(binVectors)(v.data(), v.size(), inverse, first, block.data());
             i < v.size(); ++i)
            block[i] = static_cast<uint16_t>(binOf(v[i], wideInverse) - first);
    };
    if (x.size() < kWorthTables * counts.size()) {
        for (size_t begin = 0; begin < x.size(); begin += kBlock) {
            const auto part = x.subspan(begin, std::min(kBlock, x.size() - begin));
            findBins(part);
            for (size_t i = 0; i < part.size(); ++i)
                ++counts[block[i]];
        }
        return;
    }
    CountTables<kMostBins> tables;
    for (size_t start = 0; start < x.size(); start += kFlush) {
        const auto most = x.subspan(start, std::min(kFlush, x.size() - start));
        tables.clear(counts.size());
        for (size_t begin = 0; begin < most.size(); begin += kBlock) {
            const auto part = most.subspan(begin, std::min(kBlock, most.size() - begin));
            findBins(part);
            tables.add(block.data(), part.size());
        }
        tables.addTo(counts);
    }
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
    countOneByOne(x, exponent, first, counts);
}

void countBins(std::span<const float> x, int exponent, int32_t first, std::span<uint16_t> counts)
{
    countInBlocks(x, exponent, first, counts);
}
void countBins(std::span<const float> x, int exponent, int32_t first, std::span<uint32_t> counts)
{
    countInBlocks(x, exponent, first, counts);
}
void countBins(std::span<const float> x, int exponent, int32_t first, std::span<uint64_t> counts)
{
    countInBlocks(x, exponent, first, counts);
}

void countCodes(std::span<const uint8_t> codes, std::span<uint64_t, 256> counts)
{
    constexpr size_t kFlush = size_t(1) << 31;
    CountTables<256> tables;
    for (size_t start = 0; start < codes.size(); start += kFlush) {
        const auto part = codes.subspan(start, std::min(kFlush, codes.size() - start));
        tables.clear(counts.size());
        tables.add(part.data(), part.size());
        tables.addTo(counts);
    }
}

void markCodes(std::span<const uint8_t> codes, std::bitset<256>& seen)
{
    constexpr size_t kStep = 64;
    alignas(16) std::array<uint8_t, 32> bits {};
    auto mark = [&](uint8_t code) {
        seen.set(code);
        bits[code / 8] = static_cast<uint8_t>(bits[code / 8] | 1u << code % 8);
    };
    for (size_t code = 0; code < seen.size(); ++code)
        if (seen[code])
            mark(static_cast<uint8_t>(code));
    for (size_t i = 0; i < codes.size();) {
        i += HWY_DYNAMIC_DISPATCH(firstUnseen)(&codes[i], codes.size() - i, bits.data());
        for (const size_t end = std::min(i + kStep, codes.size()); i < end; ++i)
            mark(codes[i]);
    }
}

} // namespace qs
#endif
