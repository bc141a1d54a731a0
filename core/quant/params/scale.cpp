// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/params/scale.h"

#include "core/base/rounding.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace qs {

CodeRange targetCodes(DType type, bool symmetric, bool reduced)
{
    const CodeRange full = codeRange(type).value_or(CodeRange { 0, 0 });
    if (reduced) {
        if (!isSigned(type))
            return { 0, full.high / 2 };
        // Those of int8 and int16 are symmetric: 64 + 64 is what two products of uint8 may add up to.
        const int64_t half = (full.high + 1) / 2;
        return { -half, type == DType::Int8 || type == DType::Int16 ? half : half - 1 };
    }
    if (symmetric && (type == DType::Int8 || type == DType::Int16))
        return { -full.high, full.high };
    return full;
}

float roundedTo(DType real, double value)
{
    if (real != DType::Float16)
        return static_cast<float>(value);
    // Through float32 a value could be rounded twice; a float that keeps the sticky bit (round to odd) avoids it.
    float f = static_cast<float>(value);
    if (std::isfinite(f) && static_cast<double>(f) != value) {
        if (std::abs(static_cast<double>(f)) > std::abs(value))
            f = std::nextafter(f, 0.0f);
        uint32_t bits = 0;
        static_assert(sizeof bits == sizeof f);
        __builtin_memcpy(&bits, &f, sizeof f);
        bits |= 1u;
        __builtin_memcpy(&f, &bits, sizeof f);
    }
    return float16ToFloat(floatToFloat16(f));
}

double smallestNormal(DType real)
{
    return real == DType::Float16 ? 6.103515625e-05 : static_cast<double>(std::numeric_limits<float>::min());
}

bool vanishes(double scale, const ScaleRules& rules)
{
    if (rules.subnormalHalves && rules.real == DType::Float16)
        return roundedTo(rules.real, scale) == 0;
    return scale < smallestNormal(rules.real);
}

bool weightSymmetric(DType type, std::optional<bool> asked)
{
    return asked.value_or(isSigned(type) || !isInteger(type));
}

namespace {

/// Sum in the tensor's own arithmetic.
double sumIn(DType real, double a, double b) { return roundedTo(real, a + b); }

ScaleZero restrictedScale(double lowest, double highest, CodeRange codes, const ScaleRules& rules)
{
    const double low = static_cast<double>(codes.low), high = static_cast<double>(codes.high);
    const double least = rules.minimumRange.value_or(0);
    if (least > 0)
        highest = std::max(highest, sumIn(rules.real, lowest, least));
    const int64_t middle = (codes.low + codes.high + 1) / 2;
    double scale = 0;
    int64_t zero = codes.low;
    if (highest <= lowest) {
        zero = lowest >= 0 ? codes.low : middle;
    } else if (lowest >= 0) {
        scale = highest / (high - low);
    } else {
        zero = middle;
        const auto mid = static_cast<double>(middle);
        scale = std::max(-lowest / (mid - low), highest / (high - mid));
    }
    if (least > 0)
        scale = std::max(scale, least / (high - low));
    if (scale <= 0)
        scale = 1 / (high - low);
    return { roundedTo(rules.real, scale), static_cast<int32_t>(zero) };
}

} // namespace

ScaleZero scaleAndZeroPoint(double lowest, double highest, const ScaleRules& rules)
{
    assert(!std::isnan(lowest) && !std::isnan(highest));
    const CodeRange codes = rules.kept.value_or(targetCodes(rules.type, rules.symmetric, rules.reduced));
    const double low = static_cast<double>(codes.low), high = static_cast<double>(codes.high);
    lowest = std::min(lowest, 0.0);
    highest = std::max(highest, 0.0);
    if (rules.restricted && rules.type == DType::UInt8 && !rules.symmetric)
        return restrictedScale(lowest, highest, codes, rules);
    if (rules.minimumRange)
        highest = std::max(highest, sumIn(rules.real, lowest, roundedTo(rules.real, *rules.minimumRange)));
    if (rules.symmetric) {
        highest = std::max(-lowest, highest);
        lowest = -highest;
    }
    const double scale = (highest - lowest) / (high - low);
    if (vanishes(scale, rules))
        return {};
    const double zero = rules.symmetric ? roundHalfEven((low + high) / 2.0) : roundHalfEven(low - lowest / scale);
    return { roundedTo(rules.real, scale), static_cast<int32_t>(clampOr(zero, low, high)) };
}

} // namespace qs
