// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/dot_gather.h"

#include "core/kernels/dot_target.h"

#include <algorithm>

namespace qs {

namespace {

/// Writes whole vectors: what stands behind is written later.
QS_DOTS_INLINE void copyRun(const uint8_t* from, int64_t n, __m512i flip, uint8_t* to)
{
    if (n <= 16) {
        const __m128i v = _mm_maskz_loadu_epi8(static_cast<__mmask16>((1u << n) - 1), from);
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_xor_si128(v, _mm512_castsi512_si128(flip)));
        return;
    }
    for (; n >= 64; n -= 64, from += 64, to += 64)
        _mm512_storeu_si512(to, _mm512_xor_si512(_mm512_loadu_si512(from), flip));
    if (n > 0)
        _mm512_storeu_si512(to, _mm512_xor_si512(_mm512_maskz_loadu_epi8((__mmask64(1) << n) - 1, from), flip));
}

QS_DOTS_INLINE void fillRun(__m512i v, int64_t n, uint8_t* to)
{
    for (int64_t i = 0; i < n; i += 64)
        _mm512_storeu_si512(to + i, v);
}

/// One row of a kernel for one position: `taps` runs of `channels` codes.
struct RowOfTaps {
    int64_t taps, channels, pixel; ///< pixel: codes from one position to the next
    int64_t width, dilation;
    bool together; ///< neighbouring taps lie side by side
};

QS_DOTS_INLINE uint8_t* copyTaps(
    const RowOfTaps& t, const uint8_t* row, int64_t column, __m512i outside, __m512i flip, uint8_t* to)
{
    if (t.together) {
        const int64_t before = std::clamp<int64_t>(-column, 0, t.taps);
        const int64_t last = std::clamp<int64_t>(t.width - column, before, t.taps);
        fillRun(outside, before * t.channels, to);
        if (last > before)
            copyRun(row + (column + before) * t.pixel, (last - before) * t.channels, flip, to + before * t.channels);
        fillRun(outside, (t.taps - last) * t.channels, to + last * t.channels);
        return to + t.taps * t.channels;
    }
    for (int64_t k = 0; k < t.taps; ++k, column += t.dilation, to += t.channels) {
        if (column < 0 || column >= t.width)
            fillRun(outside, t.channels, to);
        else
            copyRun(row + column * t.pixel, t.channels, flip, to);
    }
    return to;
}

} // namespace

QS_DOTS void gatherRows(const IntegerConv& c, Codes image, uint8_t outsideCode, int64_t firstChannel, int64_t first,
    int64_t count, uint8_t* rows, int64_t stride)
{
    const __m512i flip = _mm512_set1_epi8(image.isSigned ? -128 : 0);
    const __m512i outside = _mm512_xor_si512(_mm512_set1_epi8(static_cast<char>(outsideCode)), flip);
    const int64_t channels = c.inChannels / c.groups;
    const RowOfTaps taps { c.kernel[2], channels, c.inChannels, c.in[2], c.dilation[2],
        c.dilation[2] == 1 && c.groups == 1 };
    int64_t x = first % c.out[2], y = first / c.out[2] % c.out[1], z = first / (c.out[1] * c.out[2]);
    for (int64_t p = 0; p < count; ++p, rows += stride) {
        uint8_t* to = rows;
        for (int64_t kz = 0; kz < c.kernel[0]; ++kz)
            for (int64_t ky = 0; ky < c.kernel[1]; ++ky) {
                const int64_t iz = z * c.stride[0] + kz * c.dilation[0] - c.pad[0];
                const int64_t iy = y * c.stride[1] + ky * c.dilation[1] - c.pad[1];
                if (iz < 0 || iz >= c.in[0] || iy < 0 || iy >= c.in[1]) {
                    fillRun(outside, taps.taps * channels, to);
                    to += taps.taps * channels;
                    continue;
                }
                const uint8_t* row = image.data + (iz * c.in[1] + iy) * c.in[2] * c.inChannels + firstChannel;
                to = copyTaps(taps, row, x * c.stride[2] - c.pad[2], outside, flip, to);
            }
        if (++x == c.out[2]) {
            x = 0;
            if (++y == c.out[1]) {
                y = 0;
                ++z;
            }
        }
    }
}

} // namespace qs
