// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/codes/integer_product_fast.h"

#include "core/kernels/cpu/highway_targets.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

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
constexpr float kRounder = 12582912; ///< 1.5 x 2^23
constexpr int32_t kRounderBits = 0x4b400000;
} // namespace qs
#endif

HWY_BEFORE_NAMESPACE();
namespace qs::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Sums as they are.
struct SumsOut {
    int32_t* out;
    int64_t stride;

    /// What belongs to the columns of V vectors.
    template <class D, int V> struct Columns {
        Columns(D, const SumsOut&, int64_t) { }
    };
    template <class D, int V>
    HWY_INLINE void store(const Columns<D, V>&, const hn::Vec<D> (&sum)[V], int64_t row, int64_t column) const
    {
        const D d;
        for (int v = 0; v < V; ++v)
            hn::StoreU(sum[v], d, out + row * stride + column + v * static_cast<int64_t>(hn::Lanes(d)));
    }
    void storePart(const int32_t* sums, int64_t row, int64_t column, int64_t n) const
    {
        std::memcpy(out + row * stride + column, sums, static_cast<size_t>(n) * sizeof(int32_t));
    }
};

/// Requantized codes.
template <class T> struct CodesOut {
    T* out;
    int64_t stride;
    const Requantization& q;

    template <class D, int V> struct Columns {
        using DF = hn::RebindToFloat<D>;
        HWY_INLINE Columns(D d, const CodesOut& o, int64_t column)
            : low(hn::Set(DF(), static_cast<float>(o.q.low - o.q.zeroPoint)))
            , high(hn::Set(DF(), static_cast<float>(o.q.high - o.q.zeroPoint)))
            , zero(hn::Set(d, o.q.zeroPoint - kRounderBits))
        {
            const float* m = o.q.multiplier.data();
            for (int v = 0; v < V; ++v, column += static_cast<int64_t>(hn::Lanes(d))) {
                bias[v] = o.q.bias.empty() ? hn::Zero(d) : hn::LoadU(d, o.q.bias.data() + column);
                multiplier[v] = o.q.multiplier.size() == 1 ? hn::Set(DF(), m[0]) : hn::LoadU(DF(), m + column);
            }
        }
        /// Clamped values are so small that adding the rounder rounds them half to even and leaves them in its low
        /// bits.
        HWY_INLINE hn::Vec<D> codes(hn::Vec<D> sum, int v) const
        {
            const D d;
            const DF df;
            const auto scaled = hn::Mul(hn::ConvertTo(df, hn::Add(sum, bias[v])), multiplier[v]);
            const auto clamped = hn::Min(hn::Max(scaled, low), high);
            return hn::Add(hn::BitCast(d, hn::Add(clamped, hn::Set(df, kRounder))), zero);
        }
        hn::Vec<DF> low, high;
        hn::Vec<D> zero, bias[V];
        hn::Vec<DF> multiplier[V];
    };
    template <class D, int V>
    HWY_INLINE void store(const Columns<D, V>& c, const hn::Vec<D> (&sum)[V], int64_t row, int64_t column) const
    {
        T* to = out + row * stride + column;
#if HWY_TARGET == HWY_AVX2
        if constexpr (V == 2) {
            // Narrowing works in halves of the registers: the fours come out as 0 2 0 2, 1 3 1 3.
            const __m256i words = _mm256_packs_epi32(c.codes(sum[0], 0).raw, c.codes(sum[1], 1).raw);
            const __m256i bytes
                = std::is_signed_v<T> ? _mm256_packs_epi16(words, words) : _mm256_packus_epi16(words, words);
            const __m128i all = _mm_unpacklo_epi32(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256(bytes, 1));
            _mm_storeu_si128(reinterpret_cast<__m128i*>(to), all);
            return;
        }
#endif
        const hn::Rebind<T, D> d8;
        for (int v = 0; v < V; ++v)
            hn::StoreU(hn::DemoteTo(d8, c.codes(sum[v], v)), d8, to + v * static_cast<int64_t>(hn::Lanes(d8)));
    }
    void storePart(const int32_t* sums, int64_t row, int64_t column, int64_t n) const
    {
        Requantization rest = q;
        const auto done = static_cast<size_t>(column);
        rest.multiplier = q.multiplier.size() == 1 ? q.multiplier : q.multiplier.subspan(done);
        rest.bias = q.bias.empty() ? q.bias : q.bias.subspan(done);
        requantizeReference(sums, 1, n, rest, reinterpret_cast<uint8_t*>(out + row * stride + column));
    }
};

/// Calls use(output of codes).
template <class Use> HWY_INLINE void withCodesOut(const Requantization& q, uint8_t* out, int64_t stride, const Use& use)
{
    if (q.low < 0)
        use(CodesOut<int8_t> { reinterpret_cast<int8_t*>(out), stride, q });
    else
        use(CodesOut<uint8_t> { out, stride, q });
}

#if HWY_TARGET == HWY_SCALAR

template <class Out> void multiplyPanels(const int16_t* a, int64_t rows, const PackedCodes& b, const Out& out)
{
    const int64_t depth = widenedDepth(b.depth);
    for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; c < b.columns; ++c) {
            const int16_t* panel = b.data.data() + c / kPanel * kPanel * depth + c % kPanel * 2;
            uint32_t sum = 0;
            for (int64_t k = 0; k < depth; ++k)
                sum += static_cast<uint32_t>(a[r * depth + k] * panel[k / 2 * kPanel * 2 + k % 2]);
            const auto whole = static_cast<int32_t>(sum);
            out.storePart(&whole, r, c, 1);
        }
}

#else

using D32 = hn::CappedTag<int32_t, kPanel>;
using D16 = hn::Repartition<int16_t, D32>;
using V32 = hn::Vec<D32>;

/// sum[i] + a[2i] b[2i] + a[2i+1] b[2i+1], lane by lane.
HWY_INLINE V32 addPairs(D32 d, hn::Vec<D16> a, hn::Vec<D16> b, V32 sum)
{
#if HWY_TARGET == HWY_AVX2
    // GCC 12 moves sums between registers and memory around the intrinsics.
    __m256i products;
    asm("vpmaddwd %3, %2, %1\n\tvpaddd %1, %0, %0" : "+x"(sum.raw), "=&x"(products) : "x"(a.raw), "x"(b.raw));
    (void)d;
    return sum;
#elif HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128
    V32 unused = hn::Zero(d);
    return hn::ReorderWidenMulAccumulate(d, a, b, sum, unused);
#else
    const V32 a32 = hn::BitCast(d, a), b32 = hn::BitCast(d, b);
    const V32 low = hn::Mul(hn::ShiftRight<16>(hn::ShiftLeft<16>(a32)), hn::ShiftRight<16>(hn::ShiftLeft<16>(b32)));
    return hn::Add(sum, hn::Add(low, hn::Mul(hn::ShiftRight<16>(a32), hn::ShiftRight<16>(b32))));
#endif
}

/// Rows times some columns of a panel.
struct Tile {
    const int16_t* a; ///< the first row
    int64_t depth;
    const int16_t* b; ///< the first pair of the first column
    int64_t row, column, columns; ///< of the result
};

/// R rows times V vectors of columns.
template <int64_t R, int V, class Out> void multiplyTile(const Tile& t, const Out& out)
{
    const D32 d;
    const D16 d16;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    V32 sum[R][V];
    for (int64_t r = 0; r < R; ++r)
        for (int v = 0; v < V; ++v)
            sum[r][v] = hn::Zero(d);
    const int16_t *a = t.a, *b = t.b;
    for (int64_t k = 0; k < t.depth; k += 2, a += 2, b += kPanel * 2) {
        hn::Vec<D16> right[V];
        for (int v = 0; v < V; ++v)
            right[v] = hn::LoadU(d16, b + v * lanes * 2);
        for (int64_t r = 0; r < R; ++r) {
            int32_t pair;
            std::memcpy(&pair, a + r * t.depth, sizeof(pair));
            const auto left = hn::BitCast(d16, hn::Set(d, pair));
            for (int v = 0; v < V; ++v)
                sum[r][v] = addPairs(d, left, right[v], sum[r][v]);
        }
    }
    if (t.columns >= V * lanes) {
        const typename Out::template Columns<D32, V> columns(d, out, t.column);
        for (int64_t r = 0; r < R; ++r)
            out.store(columns, sum[r], t.row + r, t.column);
        return;
    }
    HWY_ALIGN int32_t line[kPanel];
    for (int64_t r = 0; r < R; ++r) {
        for (int v = 0; v < V; ++v)
            hn::StoreU(sum[r][v], d, line + v * lanes);
        out.storePart(line, t.row + r, t.column, t.columns);
    }
}

/// At most kTileRows rows.
template <int64_t R, int V, class Out> void multiplyRows(int64_t rows, const Tile& t, const Out& out)
{
    if constexpr (R > 1) {
        if (rows < R)
            return multiplyRows<R - 1, V>(rows, t, out);
    }
    multiplyTile<R, V>(t, out);
}

template <class Out> void multiplyPanels(const int16_t* a, int64_t rows, const PackedCodes& b, const Out& out)
{
    const int64_t depth = widenedDepth(b.depth);
    const auto lanes = static_cast<int64_t>(hn::Lanes(D32()));
    for (int64_t c = 0; c < b.columns; c += kPanel) {
        const int16_t* panel = b.data.data() + c * depth;
        const int64_t columns = std::min(kPanel, b.columns - c);
        for (int64_t part = 0; part < columns; part += 2 * lanes)
            for (int64_t r = 0; r < rows; r += kTileRows) {
                const Tile tile { a + r * depth, depth, panel + part * 2, r, c + part, columns - part };
                const int64_t count = std::min(kTileRows, rows - r);
                if (columns - part > lanes)
                    multiplyRows<kTileRows, 2>(count, tile, out);
                else
                    multiplyRows<kTileRows, 1>(count, tile, out);
            }
    }
}

#endif

void multiplyPacked(const int16_t* a, int64_t rows, const PackedCodes& b, int32_t* sums, int64_t stride)
{
    multiplyPanels(a, rows, b, SumsOut { sums, stride });
}

void multiplyRounded(
    const int16_t* a, int64_t rows, const PackedCodes& b, const Requantization& q, uint8_t* codes, int64_t stride)
{
    withCodesOut(q, codes, stride, [&](const auto& out) { multiplyPanels(a, rows, b, out); });
}

/// V vectors of each row of sums from `column` on.
template <int V, class Out>
HWY_INLINE void storeColumns(const int32_t* sums, int64_t rows, int64_t columns, int64_t column, const Out& out)
{
    using D = hn::ScalableTag<int32_t>;
    const D d;
    const typename Out::template Columns<D, V> own(d, out, column);
    for (int64_t r = 0; r < rows; ++r, sums += columns) {
        hn::Vec<D> sum[V];
        for (int v = 0; v < V; ++v)
            sum[v] = hn::LoadU(d, sums + column + v * static_cast<int64_t>(hn::Lanes(d)));
        out.store(own, sum, r, column);
    }
}

void requantizeRows(const int32_t* sums, int64_t rows, int64_t columns, const Requantization& q, uint8_t* codes)
{
    const auto lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<int32_t>()));
    withCodesOut(q, codes, columns, [&](const auto& out) {
        int64_t c = 0;
        for (; c + 2 * lanes <= columns; c += 2 * lanes)
            storeColumns<2>(sums, rows, columns, c, out);
        for (; c + lanes <= columns; c += lanes)
            storeColumns<1>(sums, rows, columns, c, out);
        for (int64_t r = 0; r < rows && c < columns; ++r)
            out.storePart(sums + r * columns + c, r, c, columns - c);
    });
}

/// Whole vectors as long as memory up to `end` may be read; what they write behind a run is written again by the next.
template <class T> HWY_INLINE void widenRun(const T* codes, int64_t n, int16_t zeroPoint, const T* end, int16_t* out)
{
    const hn::ScalableTag<int16_t> d;
    const hn::Rebind<T, decltype(d)> d8;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    const auto zero = hn::Set(d, zeroPoint);
    int64_t i = 0;
    for (; i < n && end - codes >= i + lanes; i += lanes)
        hn::StoreU(hn::Sub(hn::PromoteTo(d, hn::LoadU(d8, codes + i)), zero), d, out + i);
    for (; i < n; ++i)
        out[i] = static_cast<int16_t>(codes[i] - zeroPoint);
}

template <class T> void widenTyped(const CodeRows& in, int16_t zeroPoint, const uint8_t* end, int16_t* out)
{
    for (int64_t r = 0, from = 0; r < in.rows; ++r, from += in.step, out += in.length) {
        int16_t* to = out;
        for (const CodeRun& run : in.runs) {
            const T* codes = reinterpret_cast<const T*>(run.codes);
            if (codes)
                widenRun(codes + from, run.n, zeroPoint, reinterpret_cast<const T*>(end), to);
            else
                std::memset(to, 0, static_cast<size_t>(run.n) * sizeof(int16_t));
            to += run.n;
        }
        std::fill(to, out + in.length, int16_t(0));
    }
}

void widenCodeRows(const CodeRows& in, bool isSigned, int32_t zeroPoint, const uint8_t* end, int16_t* out)
{
    (isSigned ? widenTyped<int8_t> : widenTyped<uint8_t>)(in, static_cast<int16_t>(zeroPoint), end, out);
}

} // namespace qs::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace qs {

HWY_EXPORT(multiplyPacked);
HWY_EXPORT(multiplyRounded);
HWY_EXPORT(requantizeRows);
HWY_EXPORT(widenCodeRows);

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

void widenRows(const CodeRows& rows, bool isSigned, int32_t zeroPoint, const uint8_t* end, int16_t* out)
{
    HWY_DYNAMIC_DISPATCH(widenCodeRows)(rows, isSigned, zeroPoint, end, out);
}

void widen(Codes codes, int64_t n, int64_t stride, int32_t zeroPoint, int16_t* out)
{
    if (const CodeRun run { codes.data, n }; stride == 1)
        return widenRows({ { &run, 1 }, 1, 0, widenedDepth(n) }, codes.isSigned, zeroPoint, codes.data + n, out);
    for (int64_t i = 0; i < n; ++i)
        out[i] = static_cast<int16_t>(codes.at(i * stride) - zeroPoint);
    if (n % 2)
        out[n] = 0;
}

void multiply(const int16_t* a, int64_t rows, const PackedCodes& b, int32_t* sums, int64_t sumStride)
{
    HWY_DYNAMIC_DISPATCH(multiplyPacked)(a, rows, b, sums, sumStride);
}

void multiplyToCodes(
    const int16_t* a, int64_t rows, const PackedCodes& b, const Requantization& q, uint8_t* out, int64_t stride)
{
    HWY_DYNAMIC_DISPATCH(multiplyRounded)(a, rows, b, q, out, stride);
}

void requantize(const int32_t* sums, int64_t rows, int64_t columns, const Requantization& q, uint8_t* out)
{
    HWY_DYNAMIC_DISPATCH(requantizeRows)(sums, rows, columns, q, out);
}

} // namespace qs
#endif
