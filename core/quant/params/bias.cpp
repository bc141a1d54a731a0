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

} // namespace

Result<QuantizedBias> quantizeBias(
    const Tensor& bias, float inputScale, std::span<const float> weightScales, float beta)
{
    const DType real = bias.dtype();
    const std::vector<float> values = toFloats(bias);
    QuantizedBias out;
    for (float w : weightScales)
        out.scale.push_back(
            roundedTo(real, double(roundedTo(real, double(inputScale) * double(w))) * double(roundedTo(real, beta))));
    const size_t channels = out.scale.size();
    // Numpy's broadcast: the scales lie along the last dimension.
    if (channels > 1 && (bias.rank() == 0 || bias.dim(bias.rank() - 1) != int64_t(channels)))
        return unfitting(values.size(), channels);
    out.codes = Tensor::allocate(DType::Int32, bias.shape());
    const auto codes = out.codes.fill<int32_t>();
    for (size_t i = 0; i < values.size(); ++i) {
        const double q = roundHalfEven(double(values[i]) / double(out.scale[i % channels]));
        constexpr double kLow = -2147483648.0, kHigh = 2147483647.0;
        out.saturated |= q < kLow || q > kHigh;
        codes[i] = static_cast<int32_t>(clampOr(q, kLow, kHigh, kLow));
    }
    return out;
}

Result<bool> adjustScalesForBias(QuantParams& weight, const Tensor& bias, float inputScale, DType real)
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
        // ONNX Runtime computes the first product in float32 for single channels.
        const double filled = perChannel ? double(static_cast<float>(kBiasMargin) * (2.0f * magnitude))
                                         : kBiasMargin * (2.0 * double(magnitude));
        const double smallest = filled / kBiasCodes;
        const double candidate = double(inputScale) * double(weight.scale[c]);
        if (candidate <= 0 || candidate >= smallest)
            continue;
        weight.scale[c] = roundedTo(real, double(weight.scale[c]) * (smallest / candidate));
        changed = true;
    }
    return changed;
}

} // namespace qs
