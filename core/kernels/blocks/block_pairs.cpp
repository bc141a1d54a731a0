// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/blocks/block_pairs.h"

#include "core/kernels/blocks/block_tiles.h"

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

// Helpers are always inlined, so that nothing compiled for this target can be picked by the linker for other callers.
#define QS_PAIRS __attribute__((target("avx2")))
#define QS_PAIRS_INLINE QS_PAIRS __attribute__((always_inline)) inline

namespace qs {

namespace {

constexpr int kMostPairRows = 4; ///< of activations, whose sums fit the registers

/// By row of activations and half of the panel.
template <int R> using HalfSums = __m256i[R][2];

QS_PAIRS_INLINE __m256i fourTimesEight(const int8_t* codes)
{
    int32_t four;
    std::memcpy(&four, codes, sizeof(four));
    return _mm256_set1_epi32(four);
}

QS_PAIRS_INLINE __m256i loadCodes(const uint8_t* codes)
{
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(codes));
}

/// sum += the products of one block's codes of 4 bits; `a`: of the first row.
template <int R>
QS_PAIRS_INLINE void addHalves(
    HalfSums<R>& sum, const int8_t* a, int64_t stride, const uint8_t* codes, int64_t blockSize)
{
    constexpr int64_t kMostInputs = 32; // 16 products of 15 x 127 fit 16 bits
    const __m256i low = _mm256_set1_epi8(15), ones = _mm256_set1_epi16(1);
    for (int64_t k = 0; k < blockSize;) {
        HalfSums<R> part;
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r)
            part[r][0] = part[r][1] = _mm256_setzero_si256();
        for (const int64_t end = std::min(blockSize, k + kMostInputs); k < end; k += 8, codes += 64)
#pragma GCC unroll 2
            for (int h = 0; h < 2; ++h) {
                const __m256i both = loadCodes(codes + 32 * h);
                const __m256i first = _mm256_and_si256(both, low);
                const __m256i second = _mm256_and_si256(_mm256_srli_epi16(both, 4), low);
#pragma GCC unroll 4
                for (int r = 0; r < R; ++r) {
                    const int8_t* x = a + r * stride + k;
                    const __m256i products = _mm256_add_epi16(_mm256_maddubs_epi16(first, fourTimesEight(x)),
                        _mm256_maddubs_epi16(second, fourTimesEight(x + 4)));
                    part[r][h] = _mm256_add_epi16(part[r][h], products);
                }
            }
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r)
            for (int h = 0; h < 2; ++h)
                sum[r][h] = _mm256_add_epi32(sum[r][h], _mm256_madd_epi16(part[r][h], ones));
    }
}

/// The same of codes of 8 bits, from which 128 is taken: pairs of 128 x 127 fit 16 bits.
template <int R>
QS_PAIRS_INLINE void addWhole(
    HalfSums<R>& sum, const int8_t* a, int64_t stride, const uint8_t* codes, int64_t blockSize)
{
    const __m256i middle = _mm256_set1_epi8(-128), ones = _mm256_set1_epi16(1);
    for (int64_t k = 0; k < blockSize; k += 4, codes += 64)
#pragma GCC unroll 2
        for (int h = 0; h < 2; ++h) {
            const __m256i weight = _mm256_xor_si256(loadCodes(codes + 32 * h), middle);
            const __m256i size = _mm256_abs_epi8(weight);
#pragma GCC unroll 4
            for (int r = 0; r < R; ++r) {
                const __m256i x = _mm256_sign_epi8(fourTimesEight(a + r * stride + k), weight);
                sum[r][h] = _mm256_add_epi32(sum[r][h], _mm256_madd_epi16(_mm256_maddubs_epi16(size, x), ones));
            }
        }
}

/// total += a's scale x the weights' scales x sum, by row of activations and quarter of the panel.
template <int R>
QS_PAIRS_INLINE void addScaled(
    __m256d (&total)[R][4], const HalfSums<R>& sum, const float* scales, const BlockTile& t, int64_t block)
{
#pragma GCC unroll 4
    for (int quarter = 0; quarter < 4; ++quarter) {
        const __m256d scale = _mm256_cvtps_pd(_mm_load_ps(scales + 4 * quarter));
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r) {
            const __m256d x = _mm256_set1_pd(double(t.a.scale[static_cast<size_t>((t.row + r) * t.b.blocks + block)]));
            const __m128i four = quarter % 2 ? _mm256_extracti128_si256(sum[r][quarter / 2], 1)
                                             : _mm256_castsi256_si128(sum[r][quarter / 2]);
            total[r][quarter]
                = _mm256_add_pd(total[r][quarter], _mm256_mul_pd(_mm256_mul_pd(x, scale), _mm256_cvtepi32_pd(four)));
        }
    }
}

/// A single row waits for memory: asks for the weights that come some 4 kB later.
QS_PAIRS_INLINE void fetchAhead(const BlockTile& t, int64_t block)
{
    const int64_t later = t.panel * t.b.blocks + block + std::max<int64_t>(4096 / t.b.blockBytes(), 1);
    if (later >= t.b.panels() * t.b.blocks)
        return;
    const uint8_t* codes = t.b.codes.data() + later * t.b.blockBytes();
    for (int64_t line = 0; line < t.b.blockBytes(); line += 64)
        _mm_prefetch(codes + line, _MM_HINT_T0);
    _mm_prefetch(t.b.scale.data() + later * kBlockPanel, _MM_HINT_T0);
}

template <int R> QS_PAIRS_INLINE void storeTotals(const __m256d (&total)[R][4], const BlockTile& t)
{
    const int64_t count = std::min(kBlockPanel, t.b.rows - t.panel * kBlockPanel);
    for (int r = 0; r < R; ++r) {
        std::array<float, kBlockPanel> y;
        for (int quarter = 0; quarter < 4; ++quarter)
            _mm_storeu_ps(y.data() + 4 * quarter, _mm256_cvtpd_ps(total[r][quarter]));
        std::copy_n(y.begin(), count, t.y + r * t.b.rows);
    }
}

template <int R, bool kHalves> QS_PAIRS void multiplyPairTile(const BlockTile& t)
{
    const BlockPanels& b = t.b;
    const int64_t stride = b.blocks * b.blockSize, first = t.panel * b.blocks * kBlockPanel;
    const int8_t* a = t.a.codes.data() + t.row * stride;
    const __m256i middle = _mm256_set1_epi32(kHalves ? 0 : 128);
    __m256i zeroPoint[2];
    zeroPoint[0] = zeroPoint[1] = _mm256_sub_epi32(_mm256_set1_epi32(static_cast<int>(b.zeroPointOfAll)), middle);
    __m256d total[R][4];
    for (int r = 0; r < R; ++r)
        for (int quarter = 0; quarter < 4; ++quarter)
            total[r][quarter] = _mm256_setzero_pd();
    for (int64_t block = 0; block < b.blocks; ++block) {
        const int64_t at = first + block * kBlockPanel;
        for (int h = 0; h < 2 && !b.zeroCode.empty(); ++h) {
            const auto* codes = reinterpret_cast<const __m128i*>(b.zeroCode.data() + at + 8 * h);
            zeroPoint[h] = _mm256_sub_epi32(_mm256_cvtepu8_epi32(_mm_loadl_epi64(codes)), middle);
        }
        if constexpr (R == 1)
            fetchAhead(t, block);
        HalfSums<R> sum;
        for (int r = 0; r < R; ++r) {
            const int32_t taken = -t.a.sum[static_cast<size_t>((t.row + r) * b.blocks + block)];
            for (int h = 0; h < 2; ++h)
                sum[r][h] = _mm256_mullo_epi32(zeroPoint[h], _mm256_set1_epi32(taken));
        }
        const int8_t* x = a + block * b.blockSize;
        if constexpr (kHalves)
            addHalves<R>(sum, x, stride, b.block(t.panel, block), b.blockSize);
        else
            addWhole<R>(sum, x, stride, b.block(t.panel, block), b.blockSize);
        addScaled<R>(total, sum, b.scale.data() + at, t, block);
    }
    storeTotals<R>(total, t);
}

template <bool kHalves, int... kRows> constexpr auto pairTilesOf(std::integer_sequence<int, kRows...>)
{
    return std::array<BlockTileFn, sizeof...(kRows)> { multiplyPairTile<kRows + 1, kHalves>... };
}

} // namespace

bool hasPairProducts()
{
    static const bool has = __builtin_cpu_supports("avx2");
    return has;
}

void multiplyCodesByPairs(
    const CodedRows& a, const BlockPanels& b, int64_t firstPanel, int64_t lastPanel, float* y) noexcept
{
    constexpr auto rows = std::make_integer_sequence<int, kMostPairRows>();
    constexpr BlockTileFns<kMostPairRows> kernels { pairTilesOf<true>(rows), pairTilesOf<false>(rows) };
    multiplyTiles(a, b, firstPanel, lastPanel, y, kernels);
}

} // namespace qs
