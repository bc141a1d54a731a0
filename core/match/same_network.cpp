// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/match/same_network.h"

#include "core/base/work/cancel_scope.h"
#include "core/match/graph/channel_steps.h"
#include "core/ops/op.h"
#include "core/qdq/qlinear_signature.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

namespace qs {

namespace {

constexpr double kAlike = 0.5; ///< cosine, of either sign: a scale may be negative, or the weight stored so

double bestLikeness(const GraphPair& g, NodeId f, NodeId q, const std::vector<float>& a, const std::vector<float>& b)
{
    const auto shapeA = g.f.weightShape(f), shapeB = g.q.weightShape(q);
    if (!shapeA || !shapeB)
        return 0;
    // Of a square weight the likeness is that of the better order of its axes, by the sign that is asked for.
    std::vector<float> negative(b.size());
    std::ranges::transform(b, negative.begin(), std::negate());
    return std::max(
        weightLikeness(a, b, *shapeA, *shapeB).cosine, weightLikeness(a, negative, *shapeA, *shapeB).cosine);
}

/// Of which no one can tell whose they are: there are none, or a broken scale has made infinities or zeros of them.
bool saysNothing(const std::vector<float>& weight)
{
    return std::ranges::all_of(weight, [](float w) { return w == 0; })
        || !std::ranges::all_of(weight, [](float w) { return std::isfinite(w); });
}

/// The float weight with what the other file has taken into it, or out of it.
std::vector<float> foldedWeight(const GraphPair& g, NodeId f, NodeId q)
{
    std::vector<float> w = g.f.weight(f);
    const auto channels = productChannels(g.f.plan(), f);
    const auto shape = g.f.weightShape(f);
    if (!channels || !shape)
        return w;
    const auto factors = weightFactors(channelSteps(g.f.plan(), nullptr, f, *channels),
        channelSteps(g.q.plan(), &g.view, q, *channels), size_t(channels->count));
    for (size_t i = 0; i < w.size(); ++i) {
        const double factor = factors[weightChannel(g.f.graph().node(f), *shape, i)];
        w[i] = float(double(w[i]) * (std::isfinite(factor) ? factor : 0));
    }
    return w;
}

/// Float nodes whose weight the other file has in other parts, by its numbers.
std::set<NodeId> packedNodes(const std::vector<WeightPair>& weights)
{
    std::set<NodeId> nodes;
    for (const WeightPair& weight : weights)
        if (weight.method == MatchMethod::Numeric)
            nodes.insert(weight.floatNode);
    return nodes;
}

/// The node of no known operator that makes a value, past those that move elements; null: none does.
const Node* unknownMaker(const Graph& graph, ValueId value)
{
    while (value.valid() && graph.value(value).producer.valid()) {
        const Node& node = graph.node(graph.value(value).producer);
        if (!opRegistry().find(node))
            return &node;
        if (!movesElements(node))
            return nullptr;
        value = node.inputs[0];
    }
    return nullptr;
}

/// Products of a graph that read what no known operator makes, as where quantizers of another domain stand: no weight
/// and no pair can be seen there.
struct HiddenProducts {
    size_t count = 0;
    std::map<std::string, size_t> operators; ///< in front of them, by name
};

HiddenProducts hiddenProducts(const Graph& graph)
{
    HiddenProducts hidden;
    std::set<const Node*> makers;
    for (const Node& node : graph.nodes()) {
        if (!node.is("Conv") && !node.is("ConvTranspose") && !node.is("Gemm") && !node.is("MatMul"))
            continue;
        bool reads = false;
        for (const ValueId input : node.inputs)
            if (const Node* maker = unknownMaker(graph, input)) {
                makers.insert(maker);
                reads = true;
            }
        hidden.count += reads;
    }
    for (const Node* maker : makers)
        ++hidden.operators[(maker->domain.empty() ? "" : maker->domain + ".") + maker->opType];
    return hidden;
}

/// Why pairs are missing where operators are unknown; nothing where known ones leave as many without a partner.
Status checkKnownOperators(const GraphPair& g, size_t heavy, size_t paired)
{
    const HiddenProducts hidden = hiddenProducts(g.q.graph());
    if (hidden.count == 0 || (paired + hidden.count) * 4 < heavy)
        return {};
    std::string names;
    for (const auto& [name, count] : hidden.operators)
        names
            += (names.empty() ? "" : ", ") + name + " (" + std::to_string(count) + (count == 1 ? " node)" : " nodes)");
    const bool one = hidden.operators.size() == 1;
    return badInput((one ? "the operator " : "the operators ") + names + (one ? " is" : " are")
            + " not supported and stand" + (one ? "s" : "") + " in front of " + std::to_string(hidden.count)
            + " convolutions and matrix products: nothing can be compared there",
        g.q.plan().model().path, "export the quantizers as QuantizeLinear and DequantizeLinear of ONNX");
}

} // namespace

Status checkOneNetwork(
    const GraphPair& g, const Correspondence& found, const std::vector<WeightPair>& weights, bool& strangers)
{
    size_t heavy = 0, paired = 0, alike = 0;
    const std::set<NodeId> packed = packedNodes(weights);
    for (size_t n = 0; n < g.f.graph().nodes().size(); ++n) {
        if (stopAsked())
            return cancelled();
        if (!g.f.isHeavy(NodeId(n)))
            continue;
        ++heavy;
        if (packed.contains(NodeId(n))) {
            ++paired;
            ++alike;
            continue;
        }
        const auto it = found.nodes.find(NodeId(n));
        if (it == found.nodes.end())
            continue;
        ++paired;
        const auto a = g.f.weight(NodeId(n)), b = g.q.weight(it->second);
        alike += saysNothing(b) || bestLikeness(g, NodeId(n), it->second, a, b) > kAlike
            || bestLikeness(g, NodeId(n), it->second, foldedWeight(g, NodeId(n), it->second), b) > kAlike;
    }
    const std::string remedy = "give the float model that this file was quantized from";
    if (heavy > 0 && paired * 4 < heavy) {
        QS_CHECK(checkKnownOperators(g, heavy, paired));
        return badInput("only " + std::to_string(paired) + " of the float model's " + std::to_string(heavy)
                + " convolutions and matrix products have a partner here: it is another network",
            g.q.plan().model().path, remedy);
    }
    strangers = alike * 4 < paired;
    return {};
}

} // namespace qs
