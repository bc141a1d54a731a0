// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rows/range_use.h"
#include "core/analysis/rules/findings.h"
#include "core/qdq/qlinear_signature.h"
#include "core/tensor/channel_major.h"
#include "core/tensor/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

/// Channels that are far larger than the others of their tensor.
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

} // namespace qs
