// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/codes/integer_product.h"

#include "core/base/rounding.h"

#include <algorithm>

namespace qs {

void multiplyReference(const CodeMatrix& a, std::span<const int32_t> aZero, const CodeMatrix& b,
    std::span<const int32_t> bZero, int32_t* sums)
{
    for (int64_t r = 0; r < a.rows; ++r)
        for (int64_t c = 0; c < b.columns; ++c) {
            int64_t sum = 0;
            for (int64_t k = 0; k < a.columns; ++k)
                sum += int64_t(a.codes.at(r * a.rowStride + k * a.columnStride) - pick(aZero, r))
                    * (b.codes.at(k * b.rowStride + c * b.columnStride) - pick(bZero, c));
            sums[r * b.columns + c] = wrapped(sum);
        }
}

void requantizeReference(const int32_t* sums, int64_t rows, int64_t columns, const Requantization& q, uint8_t* out)
{
    const auto low = static_cast<float>(q.low - q.zeroPoint), high = static_cast<float>(q.high - q.zeroPoint);
    for (int64_t i = 0; i < rows * columns; ++i) {
        const int64_t c = i % columns;
        const int32_t bias = q.bias.empty() ? 0 : q.bias[static_cast<size_t>(c)];
        const float scaled = static_cast<float>(wrapped(int64_t(sums[i]) + bias))
            * q.multiplier[q.multiplier.size() == 1 ? 0 : static_cast<size_t>(c)];
        const float clamped = std::min(std::max(scaled, low), high);
        out[i] = static_cast<uint8_t>(static_cast<int32_t>(roundHalfEven(clamped)) + q.zeroPoint);
    }
}

void scaleSums(const int32_t* sums, int64_t rows, int64_t columns, std::span<const float> scale,
    std::span<const int32_t> bias, float* out)
{
    for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; c < columns; ++c) {
            const int64_t i = r * columns + c;
            const int32_t sum = wrapped(int64_t(sums[i]) + (bias.empty() ? 0 : bias[static_cast<size_t>(c)]));
            out[i] = static_cast<float>(sum) * scale[scale.size() == 1 ? 0 : static_cast<size_t>(c)];
        }
}

} // namespace qs
