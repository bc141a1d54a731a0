// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/rounding.h"
#include "core/kernels/convolution/integer_conv.h"
#include "core/kernels/product/integer_product.h"

#include <algorithm>

namespace qs {

namespace {

int32_t wrapped(int64_t sum) { return static_cast<int32_t>(static_cast<uint32_t>(static_cast<uint64_t>(sum))); }

} // namespace

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

void integerConvReference(
    const IntegerConv& conv, Codes x, int32_t xZero, Codes w, std::span<const int32_t> wZero, int32_t* sums)
{
    const auto& c = conv;
    const int64_t perGroupIn = c.inChannels / c.groups, perGroupOut = c.outChannels / c.groups;
    int64_t next = 0;
    for (int64_t n = 0; n < c.batch; ++n)
        for (int64_t m = 0; m < c.outChannels; ++m)
            for (int64_t z = 0; z < c.out[0]; ++z)
                for (int64_t y = 0; y < c.out[1]; ++y)
                    for (int64_t p = 0; p < c.out[2]; ++p) {
                        int64_t sum = 0;
                        for (int64_t i = 0; i < perGroupIn * c.taps(); ++i) {
                            const int64_t tap = i % c.taps(), channel = i / c.taps();
                            const int64_t at = c.inputPosition({ z, y, p }, tap);
                            if (at < 0)
                                continue;
                            const int64_t plane = n * c.inChannels + m / perGroupOut * perGroupIn + channel;
                            sum += int64_t(x.at(plane * c.inPositions() + at) - xZero)
                                * (w.at((m * perGroupIn + channel) * c.taps() + tap) - pick(wZero, m));
                        }
                        sums[next++] = wrapped(sum);
                    }
}

} // namespace qs
