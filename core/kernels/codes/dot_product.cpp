// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/codes/dot_product.h"

#include "core/kernels/cpu/dot_target.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace qs {

namespace {

/// Register tiles: rows by panels of 16 columns.
constexpr int64_t kMostPanels = 4;
constexpr int kRowsOf[kMostPanels + 1] { 0, 12, 12, 8, 6 };

/// sum[r][v] = start + rows times panels.
template <int R, int V>
QS_DOTS_INLINE void accumulate(
    const uint8_t* a, int64_t aStride, const int8_t* panel, int64_t depth, const int32_t* start, __m512i (&sum)[R][V])
{
#pragma GCC unroll 16
    for (int v = 0; v < V; ++v)
        sum[0][v] = _mm512_load_si512(start + v * kDotPanel);
#pragma GCC unroll 16
    for (int r = 1; r < R; ++r)
#pragma GCC unroll 16
        for (int v = 0; v < V; ++v)
            sum[r][v] = sum[0][v];
    const int64_t panelBytes = depth * kDotPanel;
    const uint8_t* rows[(R + 2) / 3]; // of every third row: the others are reached from there
#pragma GCC unroll 4
    for (int r = 0; r < R; r += 3)
        rows[r / 3] = a + r * aStride;
    for (int64_t k = 0; k < depth; k += 4, panel += 4 * kDotPanel) {
        __m512i b[V];
#pragma GCC unroll 16
        for (int v = 0; v < V; ++v)
            b[v] = _mm512_load_si512(panel + v * panelBytes);
#pragma GCC unroll 16
        for (int r = 0; r < R; ++r) {
            int32_t four;
            std::memcpy(&four, rows[r / 3] + r % 3 * aStride, sizeof(four));
            const __m512i left = _mm512_set1_epi32(four);
#pragma GCC unroll 16
            for (int v = 0; v < V; ++v)
                sum[r][v] = addDots(sum[r][v], left, b[v]);
        }
#pragma GCC unroll 4
        for (int r = 0; r < R; r += 3)
            rows[r / 3] += 4;
    }
}

/// Stores the first n (at most 16) bytes.
QS_DOTS_INLINE void storeBytes(__m128i v, uint8_t* out, int64_t n)
{
    if (n >= 16)
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out), v);
    else if (n == 8)
        _mm_storel_epi64(reinterpret_cast<__m128i*>(out), v);
    else
        _mm_mask_storeu_epi8(out, static_cast<__mmask16>((1u << n) - 1), v);
}

/// Sums as they are.
struct SumsOut {
    int32_t* out;
    int64_t stride;
    const int32_t* start;

    template <int R, int V> QS_DOTS_INLINE void store(__m512i (&sum)[R][V], int64_t row, int64_t c, int64_t n) const
    {
#pragma GCC unroll 16
        for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
            for (int v = 0; v < V; ++v) {
                int32_t* to = out + (row + r) * stride + c + v * kDotPanel;
                const int64_t left = n - v * kDotPanel;
                if (left >= kDotPanel)
                    _mm512_storeu_si512(to, sum[r][v]);
                else
                    _mm512_mask_storeu_epi32(to, static_cast<__mmask16>((1u << left) - 1), sum[r][v]);
            }
    }
};

/// Requantized codes. Rounded values are kept around zero, where narrowing saturates at both ends of the signed range;
/// unsigned codes are moved there and back.
struct CodesOut {
    uint8_t* out;
    int64_t stride;
    const int32_t* start;
    const float* multiplier;
    int32_t zeroPoint;
    bool isSigned;

    QS_DOTS_INLINE static __m512i rounded(__m512i sum, const float* m)
    {
        return _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_cvtepi32_ps(sum), _mm512_load_ps(m)));
    }
    template <int R, int V> QS_DOTS_INLINE void store(__m512i (&sum)[R][V], int64_t row, int64_t c, int64_t n) const
    {
        const int32_t moved = isSigned ? zeroPoint : zeroPoint - 128;
        const __m512i flip = _mm512_set1_epi8(isSigned ? 0 : -128);
        const float* m = multiplier + c;
        uint8_t* to = out + row * stride + c;
        if (V == 4 && n >= V * kDotPanel) {
            // The panels' lanes come out of the narrowing in turns.
            const __m512i zero = _mm512_set1_epi16(static_cast<int16_t>(moved));
            const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
#pragma GCC unroll 16
            for (int r = 0; r < R; ++r) {
                const __m512i low = _mm512_packs_epi32(rounded(sum[r][0], m), rounded(sum[r][1 % V], m + kDotPanel));
                const __m512i high = _mm512_packs_epi32(
                    rounded(sum[r][2 % V], m + 2 * kDotPanel), rounded(sum[r][3 % V], m + 3 * kDotPanel));
                const __m512i codes = _mm512_packs_epi16(_mm512_adds_epi16(low, zero), _mm512_adds_epi16(high, zero));
                _mm512_storeu_si512(to + r * stride, _mm512_xor_si512(_mm512_permutexvar_epi32(order, codes), flip));
            }
            return;
        }
        const __m512i zero = _mm512_set1_epi32(moved);
#pragma GCC unroll 16
        for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
            for (int v = 0; v < V; ++v) {
                const __m128i codes
                    = _mm512_cvtsepi32_epi8(_mm512_add_epi32(rounded(sum[r][v], m + v * kDotPanel), zero));
                storeBytes(_mm_xor_si128(codes, _mm512_castsi512_si128(flip)), to + r * stride + v * kDotPanel,
                    n - v * kDotPanel);
            }
    }
};

template <int R, int V, class Out>
QS_DOTS void tile(const DotRows& a, const DotMatrix& b, int64_t depth, int64_t row, int64_t panel, const Out& out)
{
    __m512i sum[R][V];
    const int64_t c = panel * kDotPanel;
    accumulate<R, V>(a.data + row * a.stride, a.stride, b.data.data() + c * depth, depth, out.start + c, sum);
    out.template store<R, V>(sum, row, c, b.columns - c);
}

template <class Out>
using Tile = void (*)(const DotRows&, const DotMatrix&, int64_t depth, int64_t row, int64_t panel, const Out&);

/// The tile of 1..R rows that fits.
template <int R, int V, class Out> Tile<Out> tileOf(int64_t rows)
{
    if constexpr (R == 1)
        return tile<1, V, Out>;
    else
        return rows >= R ? tile<R, V, Out> : tileOf<R - 1, V, Out>(rows);
}

template <int V, class Out> void strip(const DotRows& a, const DotMatrix& b, int64_t panel, const Out& out)
{
    const int64_t depth = dotDepth(b.depth);
    for (int64_t row = 0; row < a.rows;) {
        const int64_t rows = std::min<int64_t>(kRowsOf[V], a.rows - row);
        tileOf<kRowsOf[V], V, Out>(rows)(a, b, depth, row, panel, out);
        row += rows;
    }
}

template <class Out> void multiplyDots(const DotRows& a, const DotMatrix& b, const Out& out)
{
    const int64_t panels = dotColumns(b.columns) / kDotPanel, strips = (panels + kMostPanels - 1) / kMostPanels;
    for (int64_t s = 0, panel = 0; s < strips; ++s) {
        const int64_t count = (panels - panel + strips - s - 1) / (strips - s); // as even as can be
        switch (count) {
        case 1:
            strip<1>(a, b, panel, out);
            break;
        case 2:
            strip<2>(a, b, panel, out);
            break;
        case 3:
            strip<3>(a, b, panel, out);
            break;
        default:
            strip<4>(a, b, panel, out);
        }
        panel += count;
    }
}

QS_DOTS int64_t rowSum(const uint8_t* a, int64_t n)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < n; ++i)
        sum += a[i];
    return sum;
}

uint32_t wrapping(int64_t v) { return static_cast<uint32_t>(static_cast<uint64_t>(v)); }

} // namespace

bool hasDotProducts()
{
    static const bool has = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
        && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")
        && __builtin_cpu_supports("avx512vnni");
    return has;
}

DotMatrix packDots(const CodeMatrix& b, std::span<const int32_t> zeroPoints)
{
    DotMatrix m;
    m.depth = b.rows;
    m.columns = b.columns;
    const int64_t depth = dotDepth(b.rows), columns = dotColumns(b.columns);
    const int32_t move = b.codes.isSigned ? 0 : 128;
    m.data.assign(static_cast<size_t>(depth * columns), 0);
    m.columnSums.assign(static_cast<size_t>(columns), 0);
    m.zeros.resize(static_cast<size_t>(b.columns));
    for (int64_t c = 0; c < b.columns; ++c) {
        int8_t* panel = m.data.data() + c / kDotPanel * kDotPanel * depth + c % kDotPanel * 4;
        int64_t sum = 0;
        for (int64_t k = 0; k < b.rows; ++k) {
            const int32_t code = b.codes.at(k * b.rowStride + c * b.columnStride) - move;
            panel[k / 4 * kDotPanel * 4 + k % 4] = static_cast<int8_t>(code);
            sum += code;
        }
        m.columnSums[static_cast<size_t>(c)] = static_cast<int32_t>(wrapping(sum));
        m.zeros[static_cast<size_t>(c)] = pick(zeroPoints, c) - move;
    }
    if (std::ranges::all_of(m.zeros, [](int32_t z) { return z == 0; }))
        m.zeros.clear();
    return m;
}

void toUnsigned(Codes codes, int64_t n, uint8_t* out)
{
    const auto flip = static_cast<uint8_t>(codes.isSigned ? 0x80 : 0);
    for (int64_t i = 0; i < n; ++i)
        out[i] = codes.data[i] ^ flip;
}

LineVector<int32_t> dotStart(const DotMatrix& b, int32_t leftZero, std::span<const int32_t> bias)
{
    LineVector<int32_t> start(b.columnSums.size(), 0);
    for (size_t c = 0; c < static_cast<size_t>(b.columns); ++c) {
        int64_t v = (bias.empty() ? 0 : bias[c]) - int64_t(leftZero) * b.columnSums[c];
        if (!b.zeros.empty())
            v += b.depth * leftZero * b.zeros[c];
        start[c] = static_cast<int32_t>(wrapping(v));
    }
    return start;
}

void dotSums(const DotRows& a, const DotMatrix& b, const int32_t* start, int32_t* sums, int64_t stride)
{
    multiplyDots(a, b, SumsOut { sums, stride, start });
}

void correctRows(const DotRows& a, const DotMatrix& b, int32_t* sums, int64_t stride)
{
    for (int64_t r = 0; !b.zeros.empty() && r < a.rows; ++r) {
        const uint32_t sum = wrapping(rowSum(a.data + r * a.stride, b.depth));
        uint32_t* line = reinterpret_cast<uint32_t*>(sums + r * stride);
        for (size_t c = 0; c < b.zeros.size(); ++c)
            line[c] -= sum * static_cast<uint32_t>(b.zeros[c]);
    }
}

bool staysInRange(std::span<const float> multiplier)
{
    // A sum is at most 2^31, so what is rounded is at most 2^29.
    return std::ranges::all_of(multiplier, [](float m) { return std::abs(m) <= 0.25f; });
}

void dotCodes(const DotRows& a, const DotMatrix& b, const DotEpilogue& f, uint8_t* out, int64_t stride)
{
    multiplyDots(a, b, CodesOut { out, stride, f.start.data(), f.multiplier.data(), f.zeroPoint, f.isSigned });
}

} // namespace qs
