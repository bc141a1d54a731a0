// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rules/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

/// A bias of codes that several nodes read, each in a scale of its own.
namespace qs {

namespace {

constexpr double kAlike = 0.01; ///< of two scales
constexpr double kHarmful = 1e-4; ///< power of the shift over the power of the output: -40 dB
constexpr double kRuinous = 0.01; ///< an error from here on

/// Scale of a node's input times that of its weight, the largest channel's; nullopt where it has not both.
std::optional<double> productScale(const ComparePair& pair, const QuantUnit& unit)
{
    const auto& quantizers = pair.quantView->quantizers();
    const auto scaleOf = [&](QuantRole role) -> std::optional<double> {
        const auto at = std::ranges::find_if(unit.inputs, [&](uint32_t q) { return quantizers[q].role == role; });
        const bool known = at != unit.inputs.end() && !quantizers[*at].params.scale.empty();
        return known ? std::optional<double>(std::ranges::max(quantizers[*at].params.scale)) : std::nullopt;
    };
    const auto input = scaleOf(QuantRole::Activation), weight = scaleOf(QuantRole::Weight);
    return input && weight ? std::optional(*input * *weight) : std::nullopt;
}

/// Of the float model's output behind a unit of the quantized one.
const ActivationRow* rowBehind(const Comparison& c, const QuantUnit& unit)
{
    const auto row = std::ranges::find_if(c.activations, [&](const ActivationRow& r) {
        const bool made = r.quantizer && std::ranges::find(unit.outputs, *r.quantizer) != unit.outputs.end();
        return (made || r.quantNode == unit.node) && r.signalPower;
    });
    return row == c.activations.end() ? nullptr : &*row;
}

double meanSquare(const std::vector<double>& values)
{
    double sum = 0;
    for (const double v : values)
        sum += v * v;
    return values.empty() ? 0 : sum / double(values.size());
}

std::optional<Finding> misreadBias(
    const ComparePair& pair, const Comparison& c, const WeightRow& bias, double stored, const QuantUnit& reader)
{
    const auto product = productScale(pair, reader);
    const ActivationRow* const behind = rowBehind(c, reader);
    if (!product || !behind || *behind->signalPower <= 0 || std::fabs(*product / stored - 1) <= kAlike)
        return std::nullopt;
    const double share = meanSquare(bias.channelAbsMax) * std::pow(*product / stored - 1, 2) / *behind->signalPower;
    if (share <= kHarmful)
        return std::nullopt;
    const std::string node = behind->node.empty() ? pair.quantPlan->graph().node(reader.node).name : behind->node;
    Finding f = makeFinding(Rule::WrongBiasScale, node);
    f.severity = share > kRuinous ? Severity::Error : Severity::Warning;
    f.node = node;
    f.tensor = bias.name;
    f.title = "The bias of " + node + " is stored in another node's scale";
    f.summary = fmt::format("The codes of {} are stored once, in the scale of {} ({:.4g}). This node reads them, too, "
                            "with its own input scale x weight scale ({:.4g}), so it adds {:.3g} times the bias.",
        bias.quantizedName, bias.node, stored, *product, *product / stored);
    f.evidence
        = { evidence("noise_over_output", share), evidence("stored_scale", stored), evidence("read_scale", *product) };
    f.rank = share;
    f.cause = "shared";
    f.remedy = "Give each node a bias of its own in the float model before it is quantized, or quantize it in the QDQ "
               "format.";
    return f;
}

} // namespace

void findSharedBiases(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    for (const WeightRow& bias : c.weights) {
        const Quantizer& codes = pair.quantView->quantizers()[bias.quantizer];
        if (!bias.bias || !bias.floatValue.valid() || bias.params.scale.empty() || !codes.dequantize.empty())
            continue; // a DequantizeLinear says the scale to all
        const double stored = std::ranges::max(bias.params.scale);
        for (const QuantUnit& unit : pair.quantView->units())
            if (unit.node != bias.quantNode && std::ranges::find(unit.inputs, bias.quantizer) != unit.inputs.end())
                if (auto f = stored > 0 ? misreadBias(pair, c, bias, stored, unit) : std::nullopt)
                    found.push_back(std::move(*f));
    }
}

} // namespace qs
