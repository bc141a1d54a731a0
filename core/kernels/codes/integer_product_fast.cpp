// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/codes/integer_product_fast.h"

#include "core/kernels/cpu/highway_targets.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/codes/integer_product_fast.cpp"
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
        const int64_t n = columns - begin;
        for (int64_t r = 0; r < R && n > 0; ++r) {
            int32_t* to = sums + r * stride + begin;
            int32_t* whole = n < width ? line : to;
            hn::StoreU(sum[r][0], d, whole);
            if (two)
                hn::StoreU(sum[r][1], d, whole + lanes);
            if (n < width)
                std::memcpy(to, line, static_cast<size_t>(n) * sizeof(int32_t));
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

/// Eight channels: the products of two taps at a time, added to 32 bits.
using DTap = hn::CappedTag<int16_t, 8>;

template <class T>
void depthwiseTyped(const T* x, int32_t zero, const int16_t* w, const int64_t* from, const int64_t* taps, size_t used,
    int64_t channels, int32_t* sums)
{
    int64_t c = 0;
#if HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
    const DTap d;
    const hn::RepartitionToWide<DTap> d32;
    const hn::Rebind<T, DTap> d8;
    const auto z = hn::Set(d, static_cast<int16_t>(zero));
    const auto code = [&](size_t t) HWY_ATTR { return hn::Sub(hn::PromoteTo(d, hn::LoadU(d8, x + from[t] + c)), z); };
    const auto weight = [&](size_t t) HWY_ATTR { return hn::LoadU(d, w + taps[t] + c); };
    for (; c + 8 <= channels; c += 8) {
        auto low = hn::Zero(d32), high = low, unused = low;
        const auto add = [&](auto a, auto b, auto wa, auto wb) HWY_ATTR {
            low = hn::ReorderWidenMulAccumulate(
                d32, hn::InterleaveLower(d, a, b), hn::InterleaveLower(d, wa, wb), low, unused);
            high = hn::ReorderWidenMulAccumulate(
                d32, hn::InterleaveUpper(d, a, b), hn::InterleaveUpper(d, wa, wb), high, unused);
        };
        size_t t = 0;
        for (; t + 2 <= used; t += 2)
            add(code(t), code(t + 1), weight(t), weight(t + 1));
        if (t < used)
            add(code(t), hn::Zero(d), weight(t), hn::Zero(d));
        hn::StoreU(low, d32, sums + c);
        hn::StoreU(high, d32, sums + c + 4);
    }
#endif
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

template <class T>
void requantizeTyped(const int32_t* sums, int64_t rows, int64_t columns, const Requantization& q, T* out)
{
    const hn::ScalableTag<int32_t> d;
    const hn::RebindToFloat<decltype(d)> df;
    const hn::Rebind<T, decltype(d)> d8;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    const auto low = hn::Set(df, static_cast<float>(q.low - q.zeroPoint));
    const auto high = hn::Set(df, static_cast<float>(q.high - q.zeroPoint));
    const auto zero = hn::Set(d, q.zeroPoint);
    const bool one = q.multiplier.size() == 1, biased = !q.bias.empty();
    const float* multiplier = q.multiplier.data();
    const int32_t* bias = q.bias.data();
    for (int64_t r = 0; r < rows; ++r, sums += columns, out += columns) {
        int64_t c = 0;
        for (; c + lanes <= columns; c += lanes) {
            auto sum = hn::LoadU(d, sums + c);
            if (biased)
                sum = hn::Add(sum, hn::LoadU(d, bias + c));
            const auto m = one ? hn::Set(df, multiplier[0]) : hn::LoadU(df, multiplier + c);
            const auto v = hn::Min(hn::Max(hn::Mul(hn::ConvertTo(df, sum), m), low), high);
            hn::StoreU(hn::DemoteTo(d8, hn::Add(hn::NearestInt(v), zero)), d8, out + c);
        }
        if (c == columns)
            continue;
        Requantization rest = q;
        const auto done = static_cast<size_t>(c);
        rest.multiplier = one ? q.multiplier : q.multiplier.subspan(done);
        rest.bias = biased ? q.bias.subspan(done) : q.bias;
        requantizeReference(sums + c, 1, columns - c, rest, reinterpret_cast<uint8_t*>(out + c));
    }
}

void requantizeRows(const int32_t* sums, int64_t rows, int64_t columns, const Requantization& q, uint8_t* out)
{
    if (q.low < 0)
        requantizeTyped(sums, rows, columns, q, reinterpret_cast<int8_t*>(out));
    else
        requantizeTyped(sums, rows, columns, q, out);
}

} // namespace qs::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace qs {

HWY_EXPORT(multiplyPacked);
HWY_EXPORT(widenCodes);
HWY_EXPORT(depthwise);
HWY_EXPORT(requantizeRows);

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
    HWY_DYNAMIC_DISPATCH(requantizeRows)(sums, rows, columns, q, out);
}

} // namespace qs
#endif
