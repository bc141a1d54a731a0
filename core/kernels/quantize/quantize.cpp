// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/quantize/quantize.h"

#include "core/base/rounding.h"
#include "core/kernels/movement/element_io.h"
#include "core/tensor/convert.h"

#include <algorithm>

namespace qs {

void quotients(const double* x, QuantRun q, QuotientPrecision precision, double* out, size_t n)
{
    for (size_t i = 0; i < n; ++i) {
        const double v = x[i] / static_cast<double>(q.scale[i * q.stride]);
        switch (precision) {
        case QuotientPrecision::Half:
            out[i] = float16ToFloat(floatToFloat16(oddFloat(v)));
            break;
        case QuotientPrecision::BFloat16:
            out[i] = bfloat16ToFloat(floatToBFloat16(oddFloat(v)));
            break;
        case QuotientPrecision::Single:
            out[i] = static_cast<float>(v); // the double quotient of two floats rounds as their float quotient
            break;
        case QuotientPrecision::Double:
            out[i] = v;
            break;
        }
    }
}

void quantizeReference(const double* quotient, QuantRun q, int64_t low, int64_t high, int64_t* codes, size_t n)
{
    for (size_t i = 0; i < n; ++i) {
        const double code = roundHalfEven(quotient[i]) + q.zeroPoint[i * q.stride];
        codes[i] = static_cast<int64_t>(clampOr(code, double(low), double(high), double(low)));
    }
}

void dequantizeReference(const double* codes, QuantRun q, float* x, size_t n)
{
    for (size_t i = 0; i < n; ++i)
        x[i] = static_cast<float>(codes[i] - q.zeroPoint[i * q.stride]) * q.scale[i * q.stride];
}

FloatRange rangeWithZero(const float* x, size_t n)
{
    FloatRange r;
    for (size_t i = 0; i < n; ++i) {
        r.low = x[i] < r.low ? x[i] : r.low;
        r.high = x[i] > r.high ? x[i] : r.high;
    }
    return r;
}

DynamicScale dynamicScale(const FloatRange& range)
{
    const float scale = range.high == range.low ? 1.0f : (range.high - range.low) / 255.0f;
    const float zero = 0.0f - range.low / scale;
    return { scale, zero > 0 ? static_cast<uint8_t>(roundHalfEven(std::min(zero, 255.0f))) : uint8_t(0) };
}

} // namespace qs
