// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/pairs/folded_constants.h"
#include "core/analysis/pairs/weight_elements.h"
#include "core/analysis/rows/range_use.h"
#include "core/analysis/rows/weight_rows.h"
#include "core/analysis/rules/findings.h"
#include "core/match/graph/canonical.h"
#include "core/qdq/qlinear_signature.h"
#include "core/tensor/channel_major.h"
#include "core/tensor/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

/// Channels that are far larger than the others of their tensor, and such as have factors of their own.
namespace qs {

namespace {

constexpr double kUnequalChannels = 10; ///< largest over median channel of the weight that makes the tensor
constexpr double kReaderGrowthDb = 10; ///< of the noise in the next product

bool passesChannels(const std::string& type)
{
    return type == "Relu" || type == "LeakyRelu" || type == "PRelu" || type == "BatchNormalization" || type == "Clip"
        || type == "HardSwish" || type == "Identity";
}

/// The next quantized tensor behind a node, through what keeps channels apart; SIZE_MAX: none.
size_t quantizedBehind(const Graph& graph, const Comparison& c, ValueId value)
{
    while (value.valid()) {
        for (size_t i = 0; i < c.activations.size(); ++i) {
            const ActivationRow& row = c.activations[i];
            if (row.floatValue == value && (row.dynamic || (row.params.perTensor() && isInteger(row.params.dtype))))
                return i;
        }
        const auto& uses = graph.value(value).uses;
        if (uses.size() != 1 || !passesChannels(graph.node(uses[0].node).opType))
            return SIZE_MAX;
        value = graph.node(uses[0].node).outputs[0];
    }
    return SIZE_MAX;
}

/// The node itself, and the sum of a product and its bias, which may be one operator.
bool isWorkOf(const Graph& graph, NodeId reader, NodeId node)
{
    if (node == reader)
        return true;
    const Node& product = graph.node(reader);
    if (!node.valid() || !product.is("MatMul") || !product.hasOutput(0) || !graph.node(node).is("Add"))
        return false;
    const auto& uses = graph.value(product.outputs[0]).uses;
    return uses.size() == 1 && uses[0].node == node;
}

/// Largest growth of the noise in what reads the value; the row of that.
const ActivationRow* worstReader(const Graph& graph, const Comparison& c, ValueId value)
{
    const ActivationRow* worst = nullptr;
    for (const auto& use : graph.value(value).uses)
        for (const ActivationRow& row : c.activations)
            if (row.increaseDb && isWorkOf(graph, use.node, row.floatNode)
                && (!worst || *row.increaseDb > *worst->increaseDb))
                worst = &row;
    return worst;
}

/// A node of the float model whose constant is larger in some channel than in the median one, so many times.
struct UnequalMaker {
    NodeId node;
    double ratio = 0;
};

/// Largest factor of a normalization over the median one; 0: it has no constant ones.
double factorRatio(const Plan& plan, const Node& node)
{
    const Tensor* factors
        = node.opType.ends_with("Normalization") && node.hasInput(1) ? plan.constant(node.inputs[1]) : nullptr;
    if (!factors || !isFloat(factors->dtype()))
        return 0;
    std::vector<double> sizes = toDoubles(*factors);
    for (double& size : sizes)
        size = std::fabs(size);
    return largestOverMedian(std::move(sizes)).value_or(0);
}

/// Those that a quantizer holds, and factors of normalizations that stayed in float.
std::vector<UnequalMaker> unequalMakers(const ComparePair& pair, const Comparison& c)
{
    std::vector<UnequalMaker> makers;
    for (const WeightRow& weight : c.weights)
        if (!weight.bias && weight.floatNode.valid() && weight.rangeRatio.value_or(0) >= kUnequalChannels)
            makers.push_back({ weight.floatNode, *weight.rangeRatio });
    const auto& nodes = pair.floatPlan->graph().nodes();
    for (size_t n = 0; n < nodes.size(); ++n)
        if (const double ratio = factorRatio(*pair.floatPlan, nodes[n]);
            ratio >= kUnequalChannels && std::ranges::find(makers, NodeId(n), &UnequalMaker::node) == makers.end())
            makers.push_back({ NodeId(n), ratio });
    return makers;
}

} // namespace

void findOutlierChannels(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    const Graph& graph = pair.floatPlan->graph();
    for (const auto& [node, ratio] : unequalMakers(pair, c)) {
        const Node& maker = graph.node(node);
        const size_t at = maker.outputs.empty() ? SIZE_MAX : quantizedBehind(graph, c, maker.outputs[0]);
        if (at == SIZE_MAX || !firstOfQuantizer(c, at))
            continue;
        const ActivationRow& row = c.activations[at];
        const ActivationRow* reader = worstReader(graph, c, row.floatValue);
        const bool told = std::ranges::any_of(found, [&](const Finding& f) { return f.tensor == row.name; });
        if (told || !reader || *reader->increaseDb < kReaderGrowthDb)
            continue;
        Finding f = activationFinding(c, at, Rule::Outliers);
        f.cause = "channel";
        f.rank = reader->accumulated.sqnrDb ? std::pow(10.0, -*reader->accumulated.sqnrDb / 10) : f.rank;
        f.title = "One channel rules the scale of " + placeName(row);
        f.summary
            = fmt::format("The largest channel of the weights that make it is {:.0f} times the median one, and one "
                          "scale serves all channels: the others share few codes, so that the noise grows by "
                          "{:.1f} dB in {}.",
                ratio, *reader->increaseDb, placeName(*reader));
        f.evidence = { evidence("range_ratio", ratio), evidence("increase_db", *reader->increaseDb, "dB"),
            evidence("sqnr_db", reader->accumulated.sqnrDb.value_or(0), "dB") };
        f.confidence = 0.8;
        const bool normalized = maker.opType.ends_with("Normalization");
        f.remedy = normalized ? "Move the large channels into the weights that read them (SmoothQuant)."
                              : "Equalize the ranges of weights across layers before quantizing.";
        f.change = { normalized ? RemedyKind::SmoothQuant : RemedyKind::Equalize, row.node, row.name, 0, 0, 0 };
        found.push_back(std::move(f));
    }
}

namespace {

/// Signal power behind a node of the float model, of what is compared there.
double rowsPower(const Comparison& c, NodeId node)
{
    const auto row = std::ranges::find_if(
        c.activations, [&](const ActivationRow& a) { return a.floatNode == node && a.signalPower; });
    return row == c.activations.end() ? 0 : *row->signalPower;
}

/// A bias beside weights whose output channels have factors, and what it has to be.
struct FactorBias {
    std::string name; ///< of the float model's constant
    std::optional<size_t> row;
    std::vector<float> x, y; ///< the float model's, what the file adds
    std::vector<bool> known {}; ///< channels whose weights tell the factor
};

/// Of a node that adds its bias as the file stores it, in floats.
std::optional<FactorBias> floatBias(
    const ComparePair& pair, const Comparison& c, const FoldedConstants& folded, NodeId layer)
{
    constexpr size_t kSlot = 2;
    const Node& node = pair.floatPlan->graph().node(layer);
    const auto weight = std::ranges::find_if(
        c.weights, [&](const WeightRow& w) { return !w.bias && w.floatNode == layer && w.quantNode.valid(); });
    if (!takesBias(node) || weight == c.weights.end())
        return std::nullopt;
    const Graph& graph = pair.quantPlan->graph();
    const Node& there = graph.node(weight->quantNode);
    if (!takesBias(there) || !there.hasInput(kSlot))
        return std::nullopt;
    const auto& stored = graph.value(there.inputs[kSlot]).initializer;
    const Tensor* own = folded.at(layer, kSlot);
    if (!own && node.hasInput(kSlot))
        own = pair.floatPlan->constant(node.inputs[kSlot]);
    if (!stored || !isFloat(stored->dtype()) || !own || !isFloat(own->dtype()))
        return std::nullopt;
    const ValueId named = node.hasInput(kSlot) ? node.inputs[kSlot] : ValueId();
    return FactorBias { named.valid() ? pair.floatPlan->graph().value(named).name : std::string(), std::nullopt,
        toFloats(*own), toFloats(*stored) };
}

std::optional<FactorBias> factorBias(
    const ComparePair& pair, const Comparison& c, const FoldedConstants& folded, NodeId node)
{
    const auto row = std::ranges::find_if(
        c.weights, [&](const WeightRow& w) { return w.bias && w.floatNode == node && w.floatValue.valid(); });
    if (row == c.weights.end())
        return floatBias(pair, c, folded, node);
    const auto& weights = pair.alignment->weights;
    const auto wp = std::ranges::find_if(weights, [&](const WeightPair& w) {
        return w.quantizer == row->quantizer && w.floatValue == row->floatValue && w.quantNode == row->quantNode;
    });
    const Tensor* codes = storedCodes(*pair.quantPlan, pair.quantView->quantizers()[row->quantizer]);
    const Tensor* own = wp == weights.end() ? nullptr : folded.of(*wp);
    if (!codes || !own)
        return std::nullopt;
    const Tensor floats = floatElements(*own, *wp);
    const auto x = floats.data<float>();
    return FactorBias { row->name, size_t(row - c.weights.begin()), { x.begin(), x.end() },
        storedElements(*codes, paramsRead(pair, row->quantizer, row->quantNode), *wp) };
}

/// Channels of few or no weights that are not zero tell nothing of their factor.
std::vector<bool> knownFactors(const Comparison& c, const Graph& graph, NodeId node, size_t channels)
{
    constexpr double kKnown = 0.1; // relative error
    const Node& adds = graph.node(node); // behind the layer, where it is none itself
    const NodeId before = adds.hasInput(0) ? graph.value(adds.inputs[0]).producer : NodeId();
    const NodeId layer = takesBias(adds) ? node : before;
    std::vector<bool> known(channels, true);
    for (const WeightRow& row : c.weights)
        if (!row.bias && row.factors && row.floatNode == layer)
            for (size_t i = 0; i < std::min(channels, row.factors->outError.size()); ++i)
                known[i] = known[i] && row.factors->outError[i] <= kKnown;
    return known;
}

/// Such a bias as it is told of; nothing where it has the factors, or does no harm without.
std::optional<Finding> withoutFactors(
    const Comparison& c, const std::string& node, double power, const FactorBias& bias, const std::vector<double>& f)
{
    constexpr double kHarmfulShare = 0.01; // of the output's power
    constexpr double kNearer = 0.01; // noise power: it is the float model's as it is
    double off = 0, own = 0, most = 0;
    for (size_t i = 0; i < f.size(); ++i) {
        if (!bias.known[i])
            continue;
        off += std::pow(double(bias.y[i]) - f[i] * bias.x[i], 2) / double(f.size());
        own += std::pow(double(bias.y[i]) - bias.x[i], 2) / double(f.size());
        most = std::max(most, std::fabs(f[i] * bias.x[i]));
    }
    const double whole = power > 0 ? power : most * most, share = whole > 0 ? off / whole : 0;
    if (share <= kHarmfulShare)
        return std::nullopt;
    const bool same = own <= kNearer * off;
    Finding found
        = bias.row ? weightFinding(c, *bias.row, Rule::WrongBiasScale) : makeFinding(Rule::WrongBiasScale, node);
    found.severity = same ? Severity::Error : Severity::Warning;
    found.node = node;
    found.tensor = bias.name;
    found.cause = same ? "without_factors" : "other_factors";
    found.rank = share;
    found.title = fmt::format("The bias of {} {} the factors of its weights", node, same ? "lacks" : "does not fit");
    const auto [low, high] = std::ranges::minmax(f);
    found.summary = fmt::format(
        "The output channels of its weights have factors of their own, {:.3g} … {:.3g}, which the next layers take "
        "away again (cross-layer equalization). Its bias {}: it is off by {:.4g} (root of the mean square), {} of the "
        "power of the output.",
        low, high, same ? "is the float model's, without them" : "is not the float model's times these", std::sqrt(off),
        percentText(share));
    found.remedy = same
        ? "Multiply each element of this bias by the factor of its channel, or quantize the float model anew."
        : "Find out who changed it, or quantize the float model anew: the next layer's bias may have taken a part of "
          "it (bias absorption).";
    found.change = {};
    found.evidence
        = { evidence("noise_over_output", share), evidence("lowest_factor", low), evidence("highest_factor", high) };
    return found;
}

} // namespace

void findBiasesWithoutFactors(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    if (std::ranges::none_of(c.weights, &WeightRow::equalized))
        return;
    const FoldedConstants folded(pair, FoldedConstants::Factors::Fitted);
    std::vector<std::string> nodes;
    bool any = false; // bias at all
    const Graph& graph = pair.floatPlan->graph();
    for (const auto& [value, between] : equalizedLayers(pair, c.weights).values) {
        const NodeId node = graph.value(value).producer;
        const std::vector<double> factors(between.factors.begin(), between.factors.end());
        auto bias = node.valid() ? factorBias(pair, c, folded, node) : std::nullopt;
        any = any || bias || std::ranges::any_of(c.weights, [&](const WeightRow& row) {
            return row.added && row.floatNode.valid() && row.floatNode == node;
        });
        if (!bias || bias->x.size() != factors.size() || bias->y.size() != factors.size())
            continue;
        bias->known = knownFactors(c, graph, node, factors.size());
        const std::string& name = graph.node(node).name;
        if (auto f = withoutFactors(c, name, rowsPower(c, node), *bias, factors)) {
            found.push_back(std::move(*f));
            nodes.push_back(name);
        }
    }
    constexpr std::string_view kAll = ", and so have their biases;";
    const std::string some = !any
        ? ";"
        : fmt::format(", and so have their biases but for {}, of which is told by itself;",
            nodes.size() == 1 ? "that of " + nodes.front() : fmt::format("{} of them", nodes.size()));
    for (Finding& f : found)
        if (const size_t at = f.summary.find(kAll); f.rule == Rule::WeightsDiffer && f.cause == "equalized"
            && at != std::string::npos && !(any && nodes.empty()))
            f.summary.replace(at, kAll.size(), some);
}

} // namespace qs
