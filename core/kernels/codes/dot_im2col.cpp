// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/codes/dot_im2col.h"

#include "core/kernels/cpu/dot_target.h"

#include <algorithm>
#include <vector>

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

/// Neighbouring taps of `count` positions in the middle of a row: each kernel row is one run of `n` codes.
template <bool kShort>
QS_DOTS void copyMiddle(std::span<const uint8_t* const> runs, int64_t n, int64_t step, int64_t count, __m512i flip,
    uint8_t* to, int64_t stride)
{
    const auto mask = static_cast<__mmask32>(n >= 32 ? ~0u : (1u << n) - 1);
    const __m256i half = _mm512_castsi512_si256(flip);
    for (int64_t p = 0, from = 0; p < count; ++p, from += step, to += stride) {
        uint8_t* next = to;
        for (const uint8_t* run : runs) {
            if constexpr (kShort)
                _mm256_storeu_si256(reinterpret_cast<__m256i*>(next),
                    _mm256_xor_si256(_mm256_maskz_loadu_epi8(mask, run + from), half));
            else
                copyRun(run + from, n, flip, next);
            next += n;
        }
    }
}

/// Input rows that one output row reads, one a kernel row; null = outside.
void findRows(const IntegerConv& c, const uint8_t* image, int64_t z, int64_t y, std::vector<const uint8_t*>& rows)
{
    rows.clear();
    for (int64_t kz = 0; kz < c.kernel[0]; ++kz)
        for (int64_t ky = 0; ky < c.kernel[1]; ++ky) {
            const int64_t iz = z * c.stride[0] + kz * c.dilation[0] - c.pad[0];
            const int64_t iy = y * c.stride[1] + ky * c.dilation[1] - c.pad[1];
            const bool inside = iz >= 0 && iz < c.in[0] && iy >= 0 && iy < c.in[1];
            rows.push_back(inside ? image + (iz * c.in[1] + iy) * c.in[2] * c.inChannels : nullptr);
        }
}

} // namespace

QS_DOTS void im2colRows(const IntegerConv& c, Codes image, uint8_t outsideCode, int64_t firstChannel, int64_t first,
    int64_t count, uint8_t* to, int64_t stride)
{
    const __m512i flip = _mm512_set1_epi8(image.isSigned ? -128 : 0);
    const __m512i outside = _mm512_xor_si512(_mm512_set1_epi8(static_cast<char>(outsideCode)), flip);
    const int64_t channels = c.inChannels / c.groups;
    const RowOfTaps taps { c.kernel[2], channels, c.inChannels, c.in[2], c.dilation[2],
        c.dilation[2] == 1 && c.groups == 1 };
    // Output columns whose taps all lie inside a row.
    const int64_t reach = (c.kernel[2] - 1) * c.dilation[2];
    const int64_t firstMiddle = (c.pad[2] + c.stride[2] - 1) / c.stride[2];
    const int64_t room = c.in[2] - 1 - reach + c.pad[2];
    const int64_t lastMiddle = room < 0 ? 0 : room / c.stride[2] + 1;
    std::vector<const uint8_t*> rows, runs;
    int64_t x = first % c.out[2], line = first / c.out[2];
    for (int64_t left = count; left > 0; x = 0, ++line) {
        findRows(c, image.data + firstChannel, line / c.out[1], line % c.out[1], rows);
        const bool whole = taps.together && std::ranges::find(rows, nullptr) == rows.end();
        const int64_t end = std::min(c.out[2], x + left);
        left -= end - x;
        while (x < end) {
            const int64_t column = x * c.stride[2] - c.pad[2];
            if (const int64_t last = std::min(end, lastMiddle); whole && x >= firstMiddle && x < last) {
                runs.assign(rows.begin(), rows.end());
                for (const uint8_t*& run : runs)
                    run += column * c.inChannels;
                const int64_t n = c.kernel[2] * channels, step = c.stride[2] * c.inChannels;
                (n <= 32 ? copyMiddle<true> : copyMiddle<false>)(runs, n, step, last - x, flip, to, stride);
                to += (last - x) * stride;
                x = last;
                continue;
            }
            uint8_t* next = to;
            for (const uint8_t* row : rows) {
                if (row) {
                    next = copyTaps(taps, row, column, outside, flip, next);
                } else {
                    fillRun(outside, taps.taps * channels, next);
                    next += taps.taps * channels;
                }
            }
            to += stride;
            ++x;
        }
    }
}

} // namespace qs
