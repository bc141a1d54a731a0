// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/measure/weight_grid.h"

#include "core/analysis/rounding/precision.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

/// Half a step with room for how files round their scales and for the largest code (127.5 rounds to 127).
constexpr double kHalfStep = 0.51;
constexpr double kFromEnd = 1.51; ///< steps that a clipped element's code may be from the end, by whatever rounding
constexpr double kBesideNearest = 1.02; ///< the same of grids that are not even
constexpr double kFloatRoom = 0x1p-23; ///< relative: an int32 bias may have finer steps than float32 has there
constexpr double kFloatRounding = 1e-6; ///< relative, of values beside small floats

size_t scaleIndex(const QuantParams& params, size_t index) { return std::min(index, params.scale.size() - 1); }

/// By element of blocked parameters, which lie over [outer, blocks, inner].
std::vector<uint32_t> blockScales(const Shape& shape, const QuantParams& params)
{
    const auto axis = static_cast<size_t>(params.axis.value_or(0));
    int64_t inner = 1, outer = 1;
    for (size_t d = 0; d < shape.size(); ++d)
        (d < axis ? outer : d > axis ? inner : outer) *= d == axis ? 1 : shape[d];
    const int64_t channels = axis < shape.size() ? shape[axis] : 1;
    const int64_t blocks = (channels + params.blockSize - 1) / params.blockSize;
    std::vector<uint32_t> scales;
    scales.reserve(static_cast<size_t>(outer * channels * inner));
    for (int64_t o = 0; o < outer; ++o)
        for (int64_t c = 0; c < channels; ++c)
            for (int64_t i = 0; i < inner; ++i)
                scales.push_back(static_cast<uint32_t>((o * blocks + c / params.blockSize) * inner + i));
    return scales;
}

std::vector<uint32_t> channelScales(const Shape& shape, const QuantParams& params)
{
    std::vector<uint32_t> scales(static_cast<size_t>(elementCount(shape).value_or(0)));
    channelsOf(shape, *params.axis).eachRun(scales.size(), [&](size_t c, size_t begin, size_t n) {
        std::fill_n(scales.begin() + ptrdiff_t(begin), n, static_cast<uint32_t>(c));
    });
    return scales;
}

} // namespace

WeightGrid::WeightGrid(const Shape& shape, const QuantParams& params)
{
    if (params.perTensor() || !params.axis)
        return;
    if (params.blockSize > 0)
        m_scaleOf = blockScales(shape, params);
    else
        m_channels = channelsOf(shape, *params.axis);
}

WeightGrid::WeightGrid(const Shape& codes, const QuantParams& params, const WeightPair& pair, const Shape& row)
    : WeightGrid(codes, params)
{
    const bool exchanged = pair.transposed && codes.size() == 2;
    const bool reshaped = codes != row && params.blockSize == 0;
    if (params.perTensor() || !params.axis || (!exchanged && !pair.places && !reshaped))
        return;
    const auto stored = m_scaleOf.empty() ? channelScales(codes, params) : m_scaleOf;
    m_channels = {};
    if (pair.places) {
        m_scaleOf.resize(pair.places->codes.size());
        for (size_t i = 0; i < m_scaleOf.size(); ++i)
            m_scaleOf[i] = stored[pair.places->codes[i]];
        return;
    }
    m_scaleOf = stored;
    if (!exchanged)
        return;
    const auto rows = static_cast<size_t>(codes[0]), columns = static_cast<size_t>(codes[1]);
    for (size_t i = 0; i < stored.size(); ++i)
        m_scaleOf[i % columns * rows + i / columns] = stored[i];
}

QuantParams WeightGrid::paramsFor(const Shape& row, const QuantParams& stored) const
{
    if (m_scaleOf.empty() || stored.blockSize > 0)
        return stored;
    for (size_t axis = 0; axis < row.size(); ++axis) {
        std::vector<std::optional<uint32_t>> scales(static_cast<size_t>(row[axis]));
        bool follows = true;
        channelsOf(row, int64_t(axis)).eachRun(m_scaleOf.size(), [&](size_t c, size_t begin, size_t n) {
            for (size_t i = begin; i < begin + n && follows; ++i)
                follows = scales[c].value_or(m_scaleOf[i]) == m_scaleOf[i] && (scales[c] = m_scaleOf[i], true);
        });
        if (!follows)
            continue;
        QuantParams params { stored.dtype, {}, {}, int64_t(axis), 0 };
        for (const auto& s : scales) {
            const size_t at = scaleIndex(stored, *s);
            params.scale.push_back(stored.scale[at]);
            params.zeroPoint.push_back(at < stored.zeroPoint.size() ? stored.zeroPoint[at] : 0);
            if (at < stored.zeroRest.size())
                params.zeroRest.push_back(stored.zeroRest[at]);
        }
        return params;
    }
    return stored;
}

double nearestOnGrid(const QuantParams& params, size_t scale, double x)
{
    const size_t at = scaleIndex(params, scale);
    const double s = params.scale[at], zero = params.zero(at);
    if (s == 0)
        return 0;
    if (!isInteger(params.dtype))
        return s * double(smallFloatToFloat(params.dtype, floatToSmallFloat(params.dtype, float(x / s), true)));
    const auto codes = params.codes();
    const double rest = at < params.zeroRest.size() ? double(params.zeroRest[at]) : 0;
    return s * (std::clamp(std::nearbyint(x / s + rest) + (zero - rest), double(codes.low), double(codes.high)) - zero);
}

bool leavesLowestOut(std::span<const float> y, const QuantParams& params, const WeightGrid& grid)
{
    const double lowest = params.values().low;
    if (!isInteger(params.dtype) || lowest >= 0)
        return false;
    bool none = true;
    grid.eachRun(y.size(), [&](size_t index, size_t begin, size_t n) {
        const size_t at = scaleIndex(params, index);
        const double s = params.scale[at];
        none = none && params.zero(at) == 0;
        if (!none || s == 0)
            return;
        const auto edge = static_cast<float>(std::fabs(s) * (lowest + 0.5)), sign = s > 0 ? 1.0f : -1.0f;
        size_t beyond = 0;
        for (size_t i = begin; i < begin + n; ++i)
            beyond += sign * y[i] <= edge;
        none = beyond == 0;
    });
    return none;
}

GridEnds gridEnds(const QuantParams& params, size_t scale, bool balanced)
{
    const size_t at = scaleIndex(params, scale);
    const double zero = params.zero(at), s = params.scale[at];
    const double half = isInteger(params.dtype) ? std::fabs(s) / 2 : 0;
    const CodeValues codes = params.values();
    const double first = s * (codes.low + (balanced ? 1 : 0) - zero),
                 last = s * (codes.high - zero); // blocks may have negative scales
    return { std::min(first, last) - half, std::max(first, last) + half };
}

double stepAround(const QuantParams& params, double scale, double stored)
{
    if (isInteger(params.dtype) || scale == 0)
        return std::fabs(scale);
    const uint8_t code = floatToSmallFloat(params.dtype, float(std::fabs(stored / scale)), true);
    const double here = smallFloatToFloat(params.dtype, code), above = smallFloatToFloat(params.dtype, code + 1);
    if (std::isfinite(above) && above > here)
        return std::fabs(scale) * (above - here);
    return code > 0 ? std::fabs(scale) * (here - double(smallFloatToFloat(params.dtype, code - 1))) : 0;
}

std::vector<bool> lostScales(std::span<const float> x, const QuantParams& params, const WeightGrid& grid)
{
    std::vector<bool> lost(params.scale.size());
    if (std::ranges::find(params.scale, 0.f) == params.scale.end())
        return lost;
    float finest = HUGE_VALF;
    for (const float scale : params.scale)
        if (scale != 0)
            finest = std::min(finest, std::fabs(scale));
    const float nothing = std::isfinite(finest) ? finest / 2 : 0;
    grid.eachRun(x.size(), [&](size_t index, size_t begin, size_t n) {
        const size_t at = scaleIndex(params, index);
        for (size_t i = begin; i < begin + n && params.scale[at] == 0 && !lost[at]; ++i)
            lost[at] = std::fabs(x[i]) > nothing;
    });
    return lost;
}

double roomOfTypes(std::span<const float> x, const QuantParams& params)
{
    for (const Precision p : { Precision::Float16, Precision::BFloat16 }) {
        const auto isOfType = [p](float v) { return rounded(v, p) == v; };
        if (std::ranges::all_of(x, isOfType) || std::ranges::all_of(params.scale, isOfType))
            return roundingOf(p);
    }
    return kFloatRoom;
}

GridNumbers againstGrid(
    std::span<const float> x, std::span<const float> y, const QuantParams& params, const WeightGrid& grid, double room)
{
    GridNumbers numbers;
    const bool even = isInteger(params.dtype), balanced = leavesLowestOut(y, params, grid);
    grid.eachRun(x.size(), [&](size_t index, size_t begin, size_t n) {
        const double s = params.scale[scaleIndex(params, index)];
        const auto [lowest, highest] = gridEnds(params, index, balanced);
        const double tolerance = kHalfStep * std::fabs(s) + 1e-12;
        if (even)
            numbers.idealNoise += s * s / 12 * double(n);
        for (size_t i = begin; i < begin + n; ++i) {
            const bool within = !(x[i] < lowest) & !(x[i] > highest);
            // What lies beyond the ends has the code there, or it is another element.
            const double end = x[i] < lowest ? lowest : highest;
            const bool inside = within | (even & (std::fabs(y[i] - end) > (kFromEnd + 0.5) * std::fabs(s)));
            const double error = std::fabs(double(y[i]) - x[i]);
            const double ofTypes = room * (std::fabs(double(x[i])) + std::fabs(double(y[i])));
            numbers.outside += !inside;
            if (even) {
                const bool off = inside & (error > tolerance + ofTypes);
                numbers.off += off;
                if (off && s != 0)
                    numbers.mostStepsOff = std::max(numbers.mostStepsOff, error / std::fabs(s));
                continue;
            }
            const double nearest = std::fabs(nearestOnGrid(params, index, x[i]) - x[i]);
            numbers.idealNoise += nearest * nearest;
            numbers.off
                += inside & (error > kBesideNearest * nearest + kFloatRounding * std::fabs(x[i]) + ofTypes + 1e-12);
        }
    });
    return numbers;
}

} // namespace qs
