// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/params/float8.h"

#include "core/kernels/statistics/numpy_sums.h"
#include "core/quant/params/scale.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace qs {

float deviationOf(std::span<const float> values, DType real)
{
    const auto count = static_cast<double>(values.size());
    const auto mean = [&](std::span<const float> v) {
        return roundedTo(real, double(roundedTo(real, double(numpySum<float>(v)))) / count);
    };
    const float average = mean(values);
    std::vector<float> squares;
    squares.reserve(values.size());
    for (const float v : values) {
        const float apart = roundedTo(real, double(v) - double(average));
        squares.push_back(roundedTo(real, double(apart) * double(apart)));
    }
    return roundedTo(real, double(std::sqrt(mean(squares))));
}

namespace {

/// The deviation of all finite codes.
float spreadOfCodes()
{
    static const float spread = [] {
        std::vector<float> values;
        for (int code = 0; code < 256; ++code)
            if (const float v = smallFloatToFloat(DType::Float8E4M3FN, static_cast<uint8_t>(code)); std::isfinite(v))
                values.push_back(v);
        return deviationOf(values, DType::Float32);
    }();
    return spread;
}

} // namespace

Result<float> float8Scale(float deviation, DType real)
{
    const float scale = roundedTo(real, double(deviation / spreadOfCodes()));
    if (scale > 0 && std::isfinite(scale))
        return scale;
    return badInput("holds values that do not differ, so no scale of float8 follows from their spread", {},
        "exclude the nodes that read it");
}

std::optional<float> impliedDeviation(float scale, DType real)
{
    float deviation = roundedTo(real, double(scale) * double(spreadOfCodes()));
    for (int step = 0; step < 8; ++step) { // a step of the scale is one or two of the deviation
        const auto made = float8Scale(deviation, real);
        if (!made || *made == scale)
            return made ? std::optional(deviation) : std::nullopt;
        const double towards = *made < scale ? 1 : -1;
        const double unit = real == DType::Float16 ? 0x1p-11 : 0x1p-24;
        deviation = roundedTo(real, double(deviation) * (1 + towards * 1.5 * unit));
    }
    return std::nullopt;
}

void float8Codes(std::span<const float> values, float scale, DType real, uint8_t* codes)
{
    std::ranges::transform(values, codes,
        [&](float v) { return floatToSmallFloat(DType::Float8E4M3FN, roundedTo(real, double(v / scale)), true); });
}

Status checkFloat8(const Recipe& recipe)
{
    const bool activations = isFloat8(recipe.activationType), weights = isFloat8(recipe.weightType);
    const auto part = [](const QuantOverride& o) { return o.type && isFloat8(*o.type); };
    const bool overrides = std::ranges::any_of(recipe.tensors, [&](const auto& entry) {
        return std::ranges::any_of(entry.second.parts, part)
            || (entry.second.convert && part(entry.second.convert->to));
    });
    if (!activations && !weights && !overrides)
        return {};
    if (recipe.format != RecipeFormat::Qdq)
        return badUse("no runtime has operators on float8 codes", "use the qdq format");
    if (activations != weights)
        return badUse("float8 cannot be combined with other types but by overrides of single tensors",
            "give float8e4m3fn for activations and weights");
    if (recipe.blockSize > 0)
        return badUse("weights in blocks cannot be float8", "leave the block size out, or use another type");
    if (weights && recipe.reduceRange)
        return badUse("float8 has no reduced range", "leave --reduce-range out");
    return {};
}

} // namespace qs
