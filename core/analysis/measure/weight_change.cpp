// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/measure/weight_change.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace qs {

namespace {

constexpr double kHalfStepAndRoom = 0.55; ///< the factor and the shift are estimated
constexpr double kLeftShare = 0.001; ///< of elements that the change may not explain
constexpr double kLeastFactor = 0.01, kLeastShift = 0.6; ///< below it is rounding

/// Calls each(index, x, y, scale, zero point) for all elements.
void eachElement(
    std::span<const float> x, std::span<const float> y, const QuantParams& params, const WeightGrid& grid, auto each)
{
    grid.eachRun(x.size(), [&](size_t scale, size_t begin, size_t n) {
        const size_t s = std::min(scale, params.scale.size() - 1);
        for (size_t i = begin; i < begin + n; ++i)
            each(double(x[i]), double(y[i]), double(params.scale[s]), params.zero(s));
    });
}

} // namespace

std::optional<WeightChange> weightChange(
    std::span<const float> x, std::span<const float> y, const QuantParams& params, const WeightGrid& grid)
{
    if (params.scale.empty() || !isInteger(params.dtype) || x.empty())
        return std::nullopt;
    const auto few = [&](size_t left) { return double(left) <= kLeftShare * double(x.size()); };
    double xx = 0, xy = 0, steps = 0;
    std::map<double, size_t> codesOfOff; // of elements further away than rounding goes, towards zero
    size_t off = 0;
    eachElement(x, y, params, grid, [&](double a, double b, double scale, double zero) {
        xx += a * a;
        xy += a * b;
        steps += scale > 0 ? (b - a) / scale : 0;
        if (std::fabs(b - a) <= kHalfStepAndRoom * scale)
            return;
        ++off;
        if (a * b >= 0 && std::fabs(a) > std::fabs(b))
            ++codesOfOff[std::nearbyint(b / scale + zero)];
    });
    if (few(off) || xx <= 0)
        return std::nullopt;
    const auto unexplained = [&](auto&& expected) {
        size_t left = 0;
        eachElement(x, y, params, grid, [&](double a, double b, double scale, double) {
            left += std::fabs(b - expected(a, scale)) > kHalfStepAndRoom * scale;
        });
        return left;
    };
    const double factor = xy / xx, shift = std::nearbyint(steps / double(x.size()));
    if (std::fabs(factor - 1) > kLeastFactor && few(unexplained([&](double a, double) { return factor * a; })))
        return WeightChange { WeightChange::Kind::Factor, factor };
    if (std::fabs(shift) > kLeastShift && few(unexplained([&](double a, double s) { return a + shift * s; })))
        return WeightChange { WeightChange::Kind::Shift, shift };
    const auto most = std::ranges::max_element(codesOfOff, {}, [](const auto& code) { return code.second; });
    if (most != codesOfOff.end() && few(off - most->second))
        return WeightChange { WeightChange::Kind::Cut, most->first };
    return std::nullopt;
}

} // namespace qs
