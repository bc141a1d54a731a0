// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/sequence/cache_codes.h"

#include "core/base/rounding.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace qs {

namespace {

/// Scales of one head's elements.
void headScales(const CacheCodes& c, int64_t head, std::vector<float>& scale)
{
    for (int64_t i = 0; i < c.size; ++i)
        scale[static_cast<size_t>(i)] = c.perChannel ? c.scale[head * c.size + i] : c.scale[0];
}

/// Calls fn(line, scales) for each sample and head.
template <class Fn> void eachLine(const CacheCodes& c, int64_t samples, Fn fn)
{
    std::vector<float> scale(static_cast<size_t>(c.size));
    for (int64_t head = 0; head < c.heads; ++head) {
        headScales(c, head, scale);
        for (int64_t sample = 0; sample < samples; ++sample)
            fn(sample * c.heads + head, std::as_const(scale));
    }
}

int code(float x, float inverse, int low, int high)
{
    return static_cast<int>(clampOr(roundHalfEven(x * inverse), low, high, high));
}

void quantizeRow8(const float* x, const std::vector<float>& inverse, uint8_t* y)
{
    for (size_t i = 0; i < inverse.size(); ++i)
        y[i] = static_cast<uint8_t>(code(x[i], inverse[i], -128, 127));
}

void quantizeRow4(const float* x, const std::vector<float>& inverse, uint8_t* y)
{
    std::fill_n(y, (inverse.size() + 1) / 2, uint8_t(0));
    for (size_t i = 0; i < inverse.size(); ++i)
        y[i / 2] |= static_cast<uint8_t>((code(x[i], inverse[i], -8, 7) + 8) << (i % 2 * 4));
}

} // namespace

void quantizeCache(const CacheCodes& c, const float* x, int64_t samples, int64_t rows, uint8_t* codes)
{
    std::vector<float> inverse(static_cast<size_t>(c.size));
    eachLine(c, samples, [&](int64_t line, const std::vector<float>& scale) {
        std::ranges::transform(scale, inverse.begin(), [](float s) { return s != 0 ? 1 / s : 1; });
        for (int64_t r = line * rows; r < (line + 1) * rows; ++r)
            (c.bits == 8 ? quantizeRow8 : quantizeRow4)(x + r * c.size, inverse, codes + r * c.rowBytes());
    });
}

void dequantizeCache(const CacheCodes& c, const uint8_t* codes, int64_t samples, int64_t rows, float* x)
{
    eachLine(c, samples, [&](int64_t line, const std::vector<float>& scale) {
        for (int64_t r = line * rows; r < (line + 1) * rows; ++r) {
            const uint8_t* from = codes + r * c.rowBytes();
            float* to = x + r * c.size;
            for (size_t i = 0; i < scale.size(); ++i) {
                const int value = c.bits == 8 ? static_cast<int8_t>(from[i]) : (from[i / 2] >> (i % 2 * 4) & 15) - 8;
                to[i] = static_cast<float>(value) * scale[i];
            }
        }
    });
}

} // namespace qs
