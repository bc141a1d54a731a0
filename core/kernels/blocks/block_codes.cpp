// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/blocks/block_codes.h"

#include "core/base/rounding.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace qs {

void dequantizeBlocks(const BlockCodes& b, float* out) noexcept
{
    for (int64_t r = 0; r < b.rows; ++r) {
        const uint8_t* codes = b.codes + r * b.blocks * b.blockSize;
        for (int64_t k = 0; k < b.depth; ++k) {
            const int64_t block = r * b.blocks + (b.group ? b.group[k] : k / b.blockSize);
            out[k * b.rows + r] = (float(codes[k]) - b.zeroPoint[block]) * b.scale[block];
        }
    }
}

const float* tableValues(FloatTable table) noexcept
{
    // One sign, two exponent and one mantissa bit, divided by the largest value 12; code 1 is the smallest there is.
    static constexpr std::array<float, 16> fp4 { 0.0f, 5.208333333e-03f, 0.66666667f, 1.0f, 0.33333333f, 0.5f,
        0.16666667f, 0.25f, -0.0f, -5.208333333e-03f, -0.66666667f, -1.0f, -0.33333333f, -0.5f, -0.16666667f, -0.25f };
    // Quantiles of a normal distribution.
    static constexpr std::array<float, 16> nf4 { -1.0f, -0.6961928009986877f, -0.5250730514526367f,
        -0.39491748809814453f, -0.28444138169288635f, -0.18477343022823334f, -0.09105003625154495f, 0.0f,
        0.07958029955625534f, 0.16093020141124725f, 0.24611230194568634f, 0.33791524171829224f, 0.44070982933044434f,
        0.5626170039176941f, 0.7229568362236023f, 1.0f };
    return table == FloatTable::Fp4 ? fp4.data() : nf4.data();
}

void quantizeBlocks(const float* x, int64_t depth, int64_t blockSize, int8_t* codes, float* scale) noexcept
{
    for (int64_t first = 0, block = 0; first < depth; first += blockSize, ++block) {
        const int64_t n = std::min(blockSize, depth - first);
        float largest = 0;
        for (int64_t k = 0; k < n; ++k)
            largest = std::max(largest, std::abs(x[first + k]));
        scale[block] = largest / 127.0f;
        const float inverse = codesPerUnit(largest);
        for (int64_t k = 0; k < blockSize; ++k) {
            const float v = k < n ? roundHalfEven(x[first + k] * inverse) : 0.0f;
            codes[first + k] = static_cast<int8_t>(std::isnan(v) ? 0.0f : std::clamp(v, -127.0f, 127.0f));
        }
    }
}

} // namespace qs
