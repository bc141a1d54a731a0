// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/read_back/implied_range.h"

#include "core/quant/params/float8.h"
#include "core/tensor/convert.h"
#include "core/tensor/quant_params.h"

#include <cmath>

namespace qs {

namespace {

/// The number of the type that lies `steps` numbers further up.
float neighbour(DType real, float value, int steps)
{
    if (real == DType::Float16) {
        uint16_t bits = floatToFloat16(value);
        for (; steps != 0; steps += steps < 0 ? 1 : -1) {
            const bool negative = (bits & 0x8000) != 0;
            if ((bits & 0x7fff) == 0)
                bits = steps < 0 ? 0x8001 : 0x0001;
            else
                bits = static_cast<uint16_t>(bits + (negative == (steps < 0) ? 1 : -1));
        }
        return float16ToFloat(bits);
    }
    const float end = steps < 0 ? -INFINITY : INFINITY;
    for (; steps != 0; steps += steps < 0 ? 1 : -1)
        value = std::nextafter(value, end);
    return value;
}

std::optional<TensorRange> near(double low, double high, const ScaleZero& wanted, const ScaleRules& rules, int reach)
{
    const float from = roundedTo(rules.real, low), to = roundedTo(rules.real, high);
    for (int distance = 0; distance <= 2 * reach; ++distance)
        for (int i = -reach; i <= reach; ++i) {
            const int rest = distance - std::abs(i);
            if (rest < 0 || rest > reach || (rules.symmetric && rest > 0))
                continue;
            for (int j : { -rest, rest }) {
                TensorRange range;
                range.dtype = rules.real;
                range.highest = neighbour(rules.real, to, i);
                range.lowest = rules.symmetric ? -range.highest : neighbour(rules.real, from, j);
                range.shape = { 1 };
                const bool ordered = range.lowest <= 0 && range.highest >= 0 && std::isfinite(range.lowest)
                    && std::isfinite(range.highest);
                if (ordered && scaleAndZeroPoint(range.lowest, range.highest, rules) == wanted)
                    return range;
            }
        }
    return std::nullopt;
}

} // namespace

std::optional<TensorRange> impliedRange(const ScaleZero& wanted, const ScaleRules& rules)
{
    if (isFloat8(rules.type)) {
        TensorRange range;
        range.dtype = rules.real;
        range.average = 0.0f;
        range.deviation = impliedDeviation(wanted.scale, rules.real);
        range.highest = roundedTo(rules.real, double(wanted.scale) * codeValues(rules.type).high);
        range.lowest = -range.highest;
        return range.deviation ? std::optional(range) : std::nullopt;
    }
    const CodeRange codes = targetCodes(rules.type, rules.symmetric, rules.reduced);
    const double scale = wanted.scale;
    double low = scale * double(codes.low - wanted.zeroPoint), high = scale * double(codes.high - wanted.zeroPoint);
    const double width = scale * double(codes.high - codes.low);
    if (rules.symmetric) {
        high = width / 2;
        low = -high;
    }
    constexpr int kReach = 3;
    if (auto range = near(low, high, wanted, rules, kReach))
        return range;
    if (auto range = near(0, 0, wanted, rules, 0)) // values that are all zero
        return range;
    if (rules.symmetric)
        return std::nullopt;
    // A zero point stands for half a step on both sides, and ends elsewhere have other numbers around them.
    for (double shift : { 0.01, 0.03, 0.1, 0.2, 0.3, 0.4, 0.45 })
        for (double sign : { -1.0, 1.0 }) {
            const double moved = roundedTo(rules.real, low + sign * shift * scale);
            if (auto range = near(moved, moved + width, wanted, rules, kReach))
                return range;
        }
    return std::nullopt;
}

} // namespace qs
