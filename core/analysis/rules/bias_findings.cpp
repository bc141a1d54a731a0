// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rules/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

/// Biases: of codes that several nodes read, each in a scale of its own, and such as are wrong by themselves.
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

namespace {

constexpr double kBiasRatio = 0.01; ///< relative: input scale x weight scale against the stored one
constexpr double kHarmfulBias = 0.01; ///< noise power over the output's
constexpr double kRuinousBias = 0.06;
constexpr size_t kSumBits = 32;
constexpr double kHarmfulCut = 1e-4; ///< the same of a bias whose codes saturate, which none has to
constexpr double kHarmfulBits = 1e-3; ///< of one that has fewer bits than sums have
constexpr double kMostBehind = 0.5; ///< share of what is off behind the node
constexpr double kBeyondRoundingDb = 20;

/// Largest relative distance of the bias' scales from input scale x weight scale; nothing where these are not known.
std::optional<double> biasScaleDistance(const ComparePair& pair, const WeightRow& row)
{
    const auto& quantizers = pair.quantView->quantizers();
    const auto& units = pair.quantView->units();
    const auto unit = std::ranges::find(units, row.quantNode, &QuantUnit::node);
    if (unit == units.end())
        return std::nullopt;
    const QuantParams *input = nullptr, *weight = nullptr;
    for (uint32_t q : unit->inputs) {
        const QuantRole role = quantizers[q].role;
        if (role == QuantRole::Activation && !input)
            input = &quantizers[q].params;
        if (role == QuantRole::Weight && q != row.quantizer && !weight)
            weight = &quantizers[q].params;
    }
    if (!input || !weight || input->scale.size() != 1 || weight->scale.empty() || row.params.scale.empty())
        return std::nullopt;
    double distance = 0;
    for (size_t i = 0; i < std::max(weight->scale.size(), row.params.scale.size()); ++i) {
        const double product = double(input->scale[0]) * double(weight->scale[std::min(i, weight->scale.size() - 1)]);
        const double stored = row.params.scale[std::min(i, row.params.scale.size() - 1)];
        distance = std::max(distance, std::fabs(stored / product - 1));
    }
    return distance;
}

/// Runtimes have kernels on codes for products alone: a normalization dequantizes its bias as the file says.
bool addsToSums(const ComparePair& pair, const WeightRow& row)
{
    const std::string& type = row.quantNode.valid() ? pair.quantPlan->graph().node(row.quantNode).opType : row.opType;
    return !type.ends_with("Normalization");
}

/// Its node reads its input otherwise than it was written, and with it the bias: that is told already.
bool isMisread(const ComparePair& pair, const WeightRow& row, const std::vector<Finding>& found)
{
    if (!row.quantNode.valid())
        return false;
    const std::string& reader = pair.quantPlan->graph().node(row.quantNode).name;
    return std::ranges::any_of(found, [&](const Finding& f) {
        return f.rule == Rule::WrongZeroPoint && std::ranges::any_of(f.evidence, [&](const EvidenceItem& item) {
            return item.key == "reader" && item.text == reader;
        });
    });
}

/// Signal power behind a node of the float model.
double powerBehind(const Comparison& c, NodeId node)
{
    for (const ActivationRow& row : c.activations)
        if (row.floatNode == node && row.signalPower)
            return *row.signalPower;
    return 0;
}

/// Little of the output's power, but most of what is off there, and not by rounding. The mean tells whether it is off
/// by this bias: one that was corrected takes a mean error away.
bool makesMostNoise(const Comparison& c, const WeightRow& row)
{
    const double sqnr = row.similarity.sqnrDb.value_or(HUGE_VAL), mean = row.similarity.meanError.value_or(0);
    if (sqnr >= kUnrelatedDb || row.idealSqnrDb.value_or(0) < sqnr + kBeyondRoundingDb)
        return false;
    const bool retrained = std::ranges::any_of(c.weights, [&](const WeightRow& w) {
        return !w.bias && w.quantNode == row.quantNode && w.offByMoreThanHalfStep.value_or(0) > kDifferingShare;
    });
    return !retrained && std::ranges::any_of(c.activations, [&](const ActivationRow& a) {
        const double noise = a.accumulated.rmse.value_or(0), own = row.similarity.rmse.value_or(0);
        return a.floatNode == row.floatNode && row.floatNode.valid() && own * own >= kMostBehind * noise * noise
            && std::fabs(a.accumulated.meanError.value_or(0) - mean) <= kMostBehind * std::fabs(mean);
    });
}

/// What is off is all of it.
bool isAllZeros(const WeightRow& row)
{
    constexpr double kNothing = 1e-6; // dB
    return std::fabs(row.similarity.sqnrDb.value_or(HUGE_VAL)) < kNothing && !row.similarity.cosine;
}

} // namespace

void findWrongBiases(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    if (isChangedByRecipe(pair))
        return;
    for (size_t i = 0; i < c.weights.size(); ++i) {
        const WeightRow& row = c.weights[i];
        if (!row.bias || row.params.scale.empty() || (c.network && c.network->rearranged))
            continue;
        double power = powerBehind(c, row.floatNode);
        if (power <= 0) // nothing is compared right behind it: its own size
            power = row.channelAbsMax.empty() ? 0 : std::pow(std::ranges::max(row.channelAbsMax), 2);
        const double share = power > 0 ? std::pow(row.similarity.rmse.value_or(0), 2) / power : 0;
        const auto distance = biasScaleDistance(pair, row);
        const bool meant = row.equalized; // it has the factors of its channels
        const bool cut = !meant && row.clippedFraction.value_or(0) > 0 && share > kHarmfulCut;
        const bool coarse = !meant && dtypeBits(row.params.dtype) < kSumBits && share > kHarmfulBits;
        const bool most = !meant && share <= kHarmfulBias && makesMostNoise(c, row);
        const bool wrong = cut || coarse || most || (!meant && share > kHarmfulBias);
        const bool mismatched = addsToSums(pair, row) && distance && *distance > kBiasRatio;
        if ((!wrong && !mismatched) || isMisread(pair, row, found))
            continue;
        Finding f = weightFinding(c, i, Rule::WrongBiasScale);
        if (wrong && share > kRuinousBias)
            f.severity = Severity::Error;
        f.rank = meant ? 0 : share;
        f.cause = cut ? "cut" : wrong ? "wrong" : "own_scale";
        const bool lost = wrong && isAllZeros(row);
        if (lost) {
            f.title = "The bias of " + row.node + " is lost";
            f.remedy = "Quantize the bias anew from the float model's, and find out what lost it.";
        } else if (cut)
            f.title = "The bias of " + row.node + " is clipped";
        else if (!wrong)
            f.title = "The bias of " + row.node + " has a scale of its own";
        f.summary = wrong
            ? fmt::format("{} it is off by {:.4g} (root of the mean square), {} of the power of the output{}.",
                lost ? "It holds nothing but zeros:" : "Dequantized,", row.similarity.rmse.value_or(0),
                percentText(share), most ? " and most of what is off there" : "")
            : fmt::format("Its scale differs from input scale x weight scale by {}; integer kernels take the product, "
                          "so they would compute another bias than the file says.",
                percentText(*distance));
        if (row.clippedFraction.value_or(0) > 0)
            f.summary += fmt::format(" {} of its codes are saturated.", percentText(*row.clippedFraction));
        if (wrong && dtypeBits(row.params.dtype) < kSumBits)
            f.summary += fmt::format(
                " It has {} bits, and the sums that it is added to have {}.", row.params.bits(), kSumBits);
        f.evidence
            = { evidence("noise_over_output", share), evidence("sqnr_db", row.similarity.sqnrDb.value_or(0), "dB"),
                  evidence("scale_distance", distance.value_or(0)),
                  evidence("clipped_fraction", row.clippedFraction.value_or(0)) };
        f.change = { RemedyKind::Requantize, row.node, row.name, 0, 0, 0 };
        found.push_back(std::move(f));
    }
}

} // namespace qs
