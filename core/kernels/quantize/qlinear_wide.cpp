// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/quantize/qlinear_wide.h"

#include "core/kernels/codes/dot_product.h"
#include "core/kernels/cpu/dot_target.h"

#include <cmath>
#include <type_traits>

namespace qs {

namespace {

/// A sum of codes in units of the output: fma(a, ra, fma(b, rb, fixed)).
struct Sum {
    float ra, rb, fixed;
};

Sum sumOf(const QLinearBinary& p)
{
    const float ra = p.a.scale / p.out.scale, rb = p.b.scale / p.out.scale;
    const float shift = std::fma(ra, float(p.a.zeroPoint), rb * float(p.b.zeroPoint));
    return { ra, rb, float(p.out.zeroPoint) - shift };
}

bool staysInRange(const Sum& s) { return 256 * (std::abs(s.ra) + std::abs(s.rb)) + std::abs(s.fixed) < float(1 << 30); }

template <class T> QS_DOTS_INLINE __m512 floats(const T* codes)
{
    const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes));
    return _mm512_cvtepi32_ps(std::is_signed_v<T> ? _mm512_cvtepi8_epi32(v) : _mm512_cvtepu8_epi32(v));
}

template <class T> QS_DOTS size_t addBlocks(const Sum& s, const T* a, const T* b, T* out, size_t n)
{
    const __m512 ra = _mm512_set1_ps(s.ra), rb = _mm512_set1_ps(s.rb), fixed = _mm512_set1_ps(s.fixed);
    // Narrowing takes the lanes of its operands in turns.
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    size_t i = 0;
    for (; i + 64 <= n; i += 64) {
        __m512i rounded[4];
#pragma GCC unroll 4
        for (size_t q = 0; q < 4; ++q)
            rounded[q] = _mm512_cvtps_epi32(
                _mm512_fmadd_ps(floats(a + i + 16 * q), ra, _mm512_fmadd_ps(floats(b + i + 16 * q), rb, fixed)));
        const __m512i low = _mm512_packs_epi32(rounded[0], rounded[1]);
        const __m512i high = _mm512_packs_epi32(rounded[2], rounded[3]);
        const __m512i codes = std::is_signed_v<T> ? _mm512_packs_epi16(low, high) : _mm512_packus_epi16(low, high);
        _mm512_storeu_si512(out + i, _mm512_permutexvar_epi32(order, codes));
    }
    return i;
}

} // namespace

template <class T> size_t addCodesWide(const QLinearBinary& p, const T* a, const T* b, T* out, size_t n)
{
    const Sum s = sumOf(p);
    return hasDotProducts() && staysInRange(s) ? addBlocks(s, a, b, out, n) : 0;
}

template size_t addCodesWide(const QLinearBinary&, const uint8_t*, const uint8_t*, uint8_t*, size_t);
template size_t addCodesWide(const QLinearBinary&, const int8_t*, const int8_t*, int8_t*, size_t);

} // namespace qs
