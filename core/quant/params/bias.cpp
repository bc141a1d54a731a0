// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/rounding.h"
#include "core/quant/params/weights.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

/// Half of the share of int32 that a bias may fill, and a little more.
constexpr double kBiasMargin = 1.0001;
constexpr double kBiasCodes = 4294967294.0; ///< from -(2^31 - 1) to 2^31 - 1

Issue unfitting(size_t bias, size_t channels)
{
    return badInput("has " + std::to_string(bias) + " biases for " + std::to_string(channels) + " scales", {},
        "quantize per tensor, or exclude the node");
}

constexpr double kLowest = -2147483648.0, kHighest = 2147483647.0; ///< int32

/// Products rounded to `real` one by one, as numpy does it.
std::vector<float> biasScales(DType real, float inputScale, std::span<const float> weightScales, float beta)
{
    std::vector<float> scales;
    for (const float w : weightScales) {
        const float product = roundedTo(real, double(inputScale) * double(w));
        scales.push_back(roundedTo(real, double(product) * double(roundedTo(real, beta))));
    }
    return scales;
}

bool losesBias(std::span<const float> values, std::span<const float> scales)
{
    for (size_t i = 0; i < std::max(values.size(), scales.size()); ++i) {
        const float scale = scales[i % scales.size()];
        if (scale == 0 || (i < values.size() && double(std::abs(values[i])) > kHighest * double(scale)))
            return true;
    }
    return false;
}

/// As large as the bias needs; none is 0.
void widen(std::span<const float> values, std::vector<float>& scales)
{
    std::vector<double> needed(scales.size(), 0);
    for (size_t i = 0; i < values.size(); ++i) {
        double& least = needed[i % needed.size()];
        least = std::max(least, std::abs(double(values[i])) / kHighest);
    }
    for (size_t c = 0; c < scales.size(); ++c) {
        scales[c] = static_cast<float>(std::max(double(scales[c]), needed[c] * kBiasMargin));
        if (scales[c] == 0)
            scales[c] = 1;
    }
}

double smallestScale(double magnitude) { return kBiasMargin * (2.0 * magnitude) / kBiasCodes; }

/// ONNX Runtime computes the product in the bias' own type for single channels. It overflows there for float16, which
/// makes the scale infinite; here it does not.
double smallestOfChannel(DType real, float magnitude)
{
    const double twice = 2.0 * double(magnitude);
    const double filled = roundedTo(real, double(roundedTo(real, kBiasMargin)) * roundedTo(real, twice));
    return (std::isfinite(filled) ? filled : twice) / kBiasCodes;
}

/// The next larger number of float16; `value` is one and positive.
float nextHalf(float value) { return float16ToFloat(static_cast<uint16_t>(floatToFloat16(value) + 1)); }

} // namespace

Result<QuantizedBias> quantizeBias(
    const Tensor& bias, float inputScale, std::span<const float> weightScales, const BiasRules& rules)
{
    std::vector<float> values = toFloats(bias);
    QuantizedBias out;
    out.real = bias.dtype();
    out.scale = biasScales(out.real, inputScale, weightScales, rules.beta);
    const size_t channels = out.scale.size();
    // Numpy's broadcast: the scales lie along the last dimension. A weight without channels has none.
    if (channels != 1 && (bias.rank() == 0 || bias.dim(bias.rank() - 1) != int64_t(channels)))
        return unfitting(values.size(), channels);
    const bool wide = rules.wideScales && out.real == DType::Float16 && losesBias(values, out.scale);
    const bool none = rules.noneForBetaZero && rules.beta == 0;
    if (none)
        std::ranges::fill(values, 0.0f);
    if (wide)
        out.real = DType::Float32;
    if (wide || none)
        out.scale = biasScales(out.real, inputScale, weightScales, none ? 1 : rules.beta);
    if (wide)
        widen(values, out.scale);
    out.codes = Tensor::allocate(DType::Int32, bias.shape());
    const auto codes = out.codes.fill<int32_t>();
    for (size_t i = 0; i < values.size(); ++i) {
        const double q = roundHalfEven(double(values[i]) / double(out.scale[i % channels]));
        out.saturated |= q < kLowest || q > kHighest;
        codes[i] = static_cast<int32_t>(clampOr(q, kLowest, kHighest, kLowest));
    }
    return out;
}

Result<bool> adjustScalesForBias(QuantParams& weight, const Tensor& bias, float inputScale, DType real, bool upwards)
{
    const bool fits = weight.dtype == DType::Int8 || weight.dtype == DType::Int16;
    if (!fits || std::ranges::any_of(weight.zeroPoint, [](int32_t z) { return z != 0; }) || bias.count() == 0)
        return false;
    const std::vector<float> values = toFloats(bias);
    const bool perChannel = weight.axis.has_value();
    if (perChannel && values.size() < weight.scale.size())
        return unfitting(values.size(), weight.scale.size());
    float largest = 0;
    for (float v : values)
        largest = std::max(largest, std::abs(v));
    bool changed = false;
    for (size_t c = 0; c < weight.scale.size(); ++c) {
        const float magnitude = perChannel ? std::abs(values[c]) : largest;
        const double smallest
            = perChannel ? smallestOfChannel(bias.dtype(), magnitude) : smallestScale(double(magnitude));
        const double candidate = double(inputScale) * double(weight.scale[c]);
        if (candidate <= 0 || candidate >= smallest)
            continue;
        const double needed = double(weight.scale[c]) * (smallest / candidate);
        weight.scale[c] = roundedTo(real, needed);
        if (upwards && real == DType::Float16 && double(weight.scale[c]) < needed)
            weight.scale[c] = nextHalf(weight.scale[c]);
        changed = true;
    }
    return changed;
}

} // namespace qs
