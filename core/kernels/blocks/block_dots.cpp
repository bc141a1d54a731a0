// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/blocks/block_dots.h"

#include "core/kernels/blocks/block_tiles.h"
#include "core/kernels/cpu/dot_target.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace qs {

namespace {

constexpr int kMostRows = 8; ///< of activations, whose sums fit the registers

QS_DOTS_INLINE __m512i fourCodes(const int8_t* codes)
{
    int32_t four;
    std::memcpy(&four, codes, sizeof(four));
    return _mm512_set1_epi32(four);
}

/// sum[r] += the products of one block's codes; `a`: of the first row.
template <int R, bool kHalves>
QS_DOTS_INLINE void addBlock(
    __m512i (&sum)[R], const int8_t* a, int64_t stride, const uint8_t* codes, int64_t blockSize)
{
    const __m512i low = _mm512_set1_epi8(15);
    for (int64_t k = 0; k < blockSize; k += kHalves ? 8 : 4, codes += 64) {
        const __m512i both = _mm512_load_si512(codes);
        if constexpr (kHalves) {
            const __m512i first = _mm512_and_si512(both, low);
            const __m512i second = _mm512_and_si512(_mm512_srli_epi32(both, 4), low);
#pragma GCC unroll 8
            for (int r = 0; r < R; ++r) {
                sum[r] = addDots(sum[r], first, fourCodes(a + r * stride + k));
                sum[r] = addDots(sum[r], second, fourCodes(a + r * stride + k + 4));
            }
        } else {
#pragma GCC unroll 8
            for (int r = 0; r < R; ++r)
                sum[r] = addDots(sum[r], both, fourCodes(a + r * stride + k));
        }
    }
}

template <int R> QS_DOTS_INLINE void storeTotals(const __m512d (&total)[R][2], const BlockTile& t)
{
    const int64_t left = t.b.rows - t.panel * kBlockPanel;
    const __mmask16 mask = left >= kBlockPanel ? 0xffff : static_cast<__mmask16>((1u << left) - 1);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
        const __m256 low = _mm512_cvtpd_ps(total[r][0]), high = _mm512_cvtpd_ps(total[r][1]);
        const __m512 y = _mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
        _mm512_mask_storeu_ps(t.y + r * t.b.rows, mask, y);
    }
}

template <int R, bool kHalves> QS_DOTS void multiplyTile(const BlockTile& t)
{
    const BlockPanels& b = t.b;
    const int64_t stride = b.blocks * b.blockSize;
    const int8_t* a = t.a.codes.data() + t.row * stride;
    const uint8_t* codes = b.block(t.panel, 0);
    const float* scales = t.b.scale.data() + t.panel * b.blocks * kBlockPanel;
    const uint8_t* zeroCodes = b.zeroCode.empty() ? nullptr : b.zeroCode.data() + t.panel * b.blocks * kBlockPanel;
    __m512i zeroPoint = _mm512_set1_epi32(static_cast<int>(b.zeroPointOfAll));
    __m512d total[R][2];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r)
        total[r][0] = total[r][1] = _mm512_setzero_pd();
    for (int64_t block = 0; block < b.blocks; ++block) {
        if (zeroCodes)
            zeroPoint = _mm512_cvtepu8_epi32(
                _mm_load_si128(reinterpret_cast<const __m128i*>(zeroCodes + block * kBlockPanel)));
        __m512i sum[R];
#pragma GCC unroll 8
        for (int r = 0; r < R; ++r) {
            const int32_t taken = -t.a.sum[static_cast<size_t>((t.row + r) * b.blocks + block)];
            sum[r] = _mm512_mullo_epi32(zeroPoint, _mm512_set1_epi32(taken));
        }
        addBlock<R, kHalves>(sum, a + block * b.blockSize, stride, codes + block * b.blockBytes(), b.blockSize);
        const __m512d low = _mm512_cvtps_pd(_mm256_load_ps(scales + block * kBlockPanel));
        const __m512d high = _mm512_cvtps_pd(_mm256_load_ps(scales + block * kBlockPanel + 8));
#pragma GCC unroll 8
        for (int r = 0; r < R; ++r) {
            const __m512d s = _mm512_set1_pd(double(t.a.scale[static_cast<size_t>((t.row + r) * b.blocks + block)]));
            const __m512d first = _mm512_cvtepi32_pd(_mm512_castsi512_si256(sum[r]));
            const __m512d second = _mm512_cvtepi32_pd(_mm512_extracti64x4_epi64(sum[r], 1));
            total[r][0] = _mm512_add_pd(total[r][0], _mm512_mul_pd(_mm512_mul_pd(s, low), first));
            total[r][1] = _mm512_add_pd(total[r][1], _mm512_mul_pd(_mm512_mul_pd(s, high), second));
        }
    }
    storeTotals<R>(total, t);
}

template <bool kHalves, int... kRows> constexpr auto tilesOf(std::integer_sequence<int, kRows...>)
{
    return std::array<BlockTileFn, sizeof...(kRows)> { multiplyTile<kRows + 1, kHalves>... };
}

} // namespace

void multiplyCodesByDots(
    const CodedRows& a, const BlockPanels& b, int64_t firstPanel, int64_t lastPanel, float* y) noexcept
{
    constexpr auto rows = std::make_integer_sequence<int, kMostRows>();
    constexpr BlockTileFns<kMostRows> kernels { tilesOf<true>(rows), tilesOf<false>(rows) };
    multiplyTiles(a, b, firstPanel, lastPanel, y, kernels);
}

} // namespace qs
