// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/integer_product_fast.h"

#include "core/kernels/highway_targets.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/integer_product_fast.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

// A panel is 16 columns of the right matrix: for each pair of rows (2k, 2k+1) the 16 pairs lie side by side.
#ifndef QS_INTEGER_PANEL
#define QS_INTEGER_PANEL
namespace qs {
constexpr int64_t kPanel = 16;
constexpr int64_t kTileRows = 6;
} // namespace qs
#endif

HWY_BEFORE_NAMESPACE();
namespace qs::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

void multiplyPacked(const int16_t* a, int64_t rows, const PackedCodes& b, int32_t* sums, int64_t stride)
{
    const int64_t depth = widenedDepth(b.depth);
    for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; c < b.columns; ++c) {
            const int16_t* panel = b.data.data() + c / kPanel * kPanel * depth + c % kPanel * 2;
            uint32_t sum = 0;
            for (int64_t k = 0; k < depth; ++k)
                sum += static_cast<uint32_t>(a[r * depth + k] * panel[k / 2 * kPanel * 2 + k % 2]);
            sums[r * stride + c] = static_cast<int32_t>(sum);
        }
}

#else

using D32 = hn::CappedTag<int32_t, kPanel>;
using D16 = hn::Repartition<int16_t, D32>;
using DF = hn::RebindToFloat<D32>;
using V32 = hn::Vec<D32>;

/// sum[i] + a[2i] b[2i] + a[2i+1] b[2i+1], lane by lane.
HWY_INLINE V32 addPairs(D32 d, hn::Vec<D16> a, hn::Vec<D16> b, V32 sum)
{
#if HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128
    V32 unused = hn::Zero(d);
    return hn::ReorderWidenMulAccumulate(d, a, b, sum, unused);
#else
    const V32 a32 = hn::BitCast(d, a), b32 = hn::BitCast(d, b);
    const V32 low = hn::Mul(hn::ShiftRight<16>(hn::ShiftLeft<16>(a32)), hn::ShiftRight<16>(hn::ShiftLeft<16>(b32)));
    return hn::Add(sum, hn::Add(low, hn::Mul(hn::ShiftRight<16>(a32), hn::ShiftRight<16>(b32))));
#endif
}

/// R rows times one panel.
template <int64_t R>
HWY_INLINE void tile(
    const int16_t* a, int64_t depth, const int16_t* panel, int32_t* sums, int64_t stride, int64_t columns)
{
    const D32 d;
    const D16 d16;
    const size_t lanes = hn::Lanes(d), vectors = kPanel / lanes;
    HWY_ALIGN int32_t line[kPanel];
    for (size_t v0 = 0; v0 < vectors; v0 += 2) {
        const bool two = v0 + 1 < vectors;
        V32 sum[R][2];
        for (int64_t r = 0; r < R; ++r)
            sum[r][0] = sum[r][1] = hn::Zero(d);
        const int16_t* b0 = panel + v0 * lanes * 2;
        const int16_t* b1 = two ? b0 + lanes * 2 : b0;
        for (int64_t k = 0; k < depth; k += 2, b0 += kPanel * 2, b1 += kPanel * 2) {
            const auto vb0 = hn::LoadU(d16, b0), vb1 = hn::LoadU(d16, b1);
            for (int64_t r = 0; r < R; ++r) {
                int32_t pair;
                std::memcpy(&pair, a + r * depth + k, sizeof(pair));
                const auto va = hn::BitCast(d16, hn::Set(d, pair));
                sum[r][0] = addPairs(d, va, vb0, sum[r][0]);
                sum[r][1] = addPairs(d, va, vb1, sum[r][1]);
            }
        }
        const auto begin = static_cast<int64_t>(v0 * lanes);
        const auto width = static_cast<int64_t>(two ? 2 * lanes : lanes);
        for (int64_t r = 0; r < R; ++r) {
            hn::StoreU(sum[r][0], d, line);
            if (two)
                hn::StoreU(sum[r][1], d, line + lanes);
            const int64_t n = columns - begin < width ? columns - begin : width;
            if (n > 0)
                std::memcpy(sums + r * stride + begin, line, static_cast<size_t>(n) * sizeof(int32_t));
        }
    }
}

void multiplyPacked(const int16_t* a, int64_t rows, const PackedCodes& b, int32_t* sums, int64_t stride)
{
    const int64_t depth = widenedDepth(b.depth);
    for (int64_t c = 0; c < b.columns; c += kPanel) {
        const int16_t* panel = b.data.data() + c * depth;
        int64_t r = 0;
        for (; r + kTileRows <= rows; r += kTileRows)
            tile<kTileRows>(a + r * depth, depth, panel, sums + r * stride + c, stride, b.columns - c);
        for (; r < rows; ++r)
            tile<1>(a + r * depth, depth, panel, sums + r * stride + c, stride, b.columns - c);
    }
}

#endif

template <class T> void widenTyped(const T* codes, int64_t n, int32_t zeroPoint, int16_t* out)
{
    const hn::ScalableTag<int16_t> d;
    const hn::Rebind<T, decltype(d)> d8;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    const auto zero = hn::Set(d, static_cast<int16_t>(zeroPoint));
    int64_t i = 0;
    for (; i + lanes <= n; i += lanes)
        hn::StoreU(hn::Sub(hn::PromoteTo(d, hn::LoadU(d8, codes + i)), zero), d, out + i);
    for (; i < n; ++i)
        out[i] = static_cast<int16_t>(codes[i] - zeroPoint);
}

void widenCodes(Codes codes, int64_t n, int32_t zeroPoint, int16_t* out)
{
    if (codes.isSigned)
        widenTyped(reinterpret_cast<const int8_t*>(codes.data), n, zeroPoint, out);
    else
        widenTyped(codes.data, n, zeroPoint, out);
}

template <class T>
void depthwiseTyped(const T* x, int32_t zero, const int16_t* w, const int64_t* from, const int64_t* taps, size_t used,
    int64_t channels, int32_t* sums)
{
    const hn::ScalableTag<int32_t> d;
    const hn::Rebind<T, decltype(d)> d8;
    const hn::Rebind<int16_t, decltype(d)> d16;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    const auto z = hn::Set(d, zero);
    int64_t c = 0;
    for (; c + lanes <= channels; c += lanes) {
        auto sum = hn::Zero(d);
        for (size_t t = 0; t < used; ++t) {
            const auto code = hn::PromoteTo(d, hn::LoadU(d8, x + from[t] + c));
            const auto weight = hn::PromoteTo(d, hn::LoadU(d16, w + taps[t] + c));
            sum = hn::Add(sum, hn::Mul(hn::Sub(code, z), weight));
        }
        hn::StoreU(sum, d, sums + c);
    }
    for (; c < channels; ++c) {
        uint32_t sum = 0;
        for (size_t t = 0; t < used; ++t)
            sum += static_cast<uint32_t>((x[from[t] + c] - zero) * w[taps[t] + c]);
        sums[c] = static_cast<int32_t>(sum);
    }
}

void depthwise(Codes x, int32_t zero, const int16_t* w, const int64_t* from, const int64_t* taps, size_t used,
    int64_t channels, int32_t* sums)
{
    if (x.isSigned)
        depthwiseTyped(reinterpret_cast<const int8_t*>(x.data), zero, w, from, taps, used, channels, sums);
    else
        depthwiseTyped(x.data, zero, w, from, taps, used, channels, sums);
}

/// Whole vectors of one row; returns how many columns were done.
template <class T> int64_t requantizeRow(const int32_t* sums, int64_t columns, const Requantization& q, T* out)
{
    const hn::ScalableTag<int32_t> d;
    const hn::RebindToFloat<decltype(d)> df;
    const hn::Rebind<T, decltype(d)> d8;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    const auto low = hn::Set(df, static_cast<float>(q.low - q.zeroPoint));
    const auto high = hn::Set(df, static_cast<float>(q.high - q.zeroPoint));
    const auto zero = hn::Set(d, q.zeroPoint);
    const bool one = q.multiplier.size() == 1;
    int64_t c = 0;
    for (; c + lanes <= columns; c += lanes) {
        auto sum = hn::LoadU(d, sums + c);
        if (!q.bias.empty())
            sum = hn::Add(sum, hn::LoadU(d, q.bias.data() + c));
        const auto m = one ? hn::Set(df, q.multiplier[0]) : hn::LoadU(df, q.multiplier.data() + c);
        const auto v = hn::Min(hn::Max(hn::Mul(hn::ConvertTo(df, sum), m), low), high);
        hn::StoreU(hn::DemoteTo(d8, hn::Add(hn::NearestInt(v), zero)), d8, out + c);
    }
    return c;
}

int64_t requantizeVectors(const int32_t* sums, int64_t columns, const Requantization& q, uint8_t* out)
{
    if (q.low < 0)
        return requantizeRow(sums, columns, q, reinterpret_cast<int8_t*>(out));
    return requantizeRow(sums, columns, q, out);
}

} // namespace qs::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace qs {

HWY_EXPORT(multiplyPacked);
HWY_EXPORT(widenCodes);
HWY_EXPORT(depthwise);
HWY_EXPORT(requantizeVectors);

PackedCodes packCodes(const CodeMatrix& b, std::span<const int32_t> zeroPoints)
{
    PackedCodes packed { b.rows, b.columns, {} };
    const int64_t depth = widenedDepth(b.rows), panels = (b.columns + kPanel - 1) / kPanel;
    packed.data.assign(static_cast<size_t>(panels * kPanel * depth), 0);
    for (int64_t c = 0; c < b.columns; ++c) {
        int16_t* panel = packed.data.data() + c / kPanel * kPanel * depth;
        for (int64_t k = 0; k < b.rows; ++k)
            panel[(k / 2 * kPanel + c % kPanel) * 2 + k % 2]
                = static_cast<int16_t>(b.codes.at(k * b.rowStride + c * b.columnStride) - pick(zeroPoints, c));
    }
    return packed;
}

void widenRun(Codes codes, int64_t n, int32_t zeroPoint, int16_t* out)
{
    HWY_DYNAMIC_DISPATCH(widenCodes)(codes, n, zeroPoint, out);
}

void widen(Codes codes, int64_t n, int64_t stride, int32_t zeroPoint, int16_t* out)
{
    if (stride == 1)
        widenRun(codes, n, zeroPoint, out);
    else
        for (int64_t i = 0; i < n; ++i)
            out[i] = static_cast<int16_t>(codes.at(i * stride) - zeroPoint);
    if (n % 2)
        out[n] = 0;
}

void multiply(const int16_t* a, int64_t rows, const PackedCodes& b, int32_t* sums, int64_t sumStride)
{
    HWY_DYNAMIC_DISPATCH(multiplyPacked)(a, rows, b, sums, sumStride);
}

void depthwisePosition(Codes x, int32_t zero, const int16_t* w, const int64_t* from, const int64_t* taps, size_t used,
    int64_t channels, int32_t* sums)
{
    HWY_DYNAMIC_DISPATCH(depthwise)(x, zero, w, from, taps, used, channels, sums);
}

void requantize(const int32_t* sums, int64_t rows, int64_t columns, const Requantization& q, uint8_t* out)
{
    for (int64_t r = 0; r < rows; ++r) {
        const int64_t done = HWY_DYNAMIC_DISPATCH(requantizeVectors)(sums + r * columns, columns, q, out + r * columns);
        Requantization rest = q;
        const auto skip = static_cast<size_t>(done);
        rest.multiplier = q.multiplier.size() == 1 ? q.multiplier : q.multiplier.subspan(skip);
        rest.bias = q.bias.empty() ? q.bias : q.bias.subspan(skip);
        requantizeReference(sums + r * columns + done, 1, columns - done, rest, out + r * columns + done);
    }
}

} // namespace qs
#endif
