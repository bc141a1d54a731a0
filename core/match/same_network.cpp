// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/match/same_network.h"

#include "core/base/work/cancel_scope.h"
#include "core/match/graph/channel_steps.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace qs {

namespace {

constexpr double kAlike = 0.5; ///< cosine, of either sign: a scale may be negative

double bestLikeness(const GraphPair& g, NodeId f, NodeId q, const std::vector<float>& a, const std::vector<float>& b)
{
    const auto shapeA = g.f.weightShape(f), shapeB = g.q.weightShape(q);
    return shapeA && shapeB ? std::fabs(weightLikeness(a, b, *shapeA, *shapeB).cosine) : 0;
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

} // namespace

Status checkOneNetwork(const GraphPair& g, const Correspondence& found, const std::vector<WeightPair>& weights)
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
    if (heavy > 0 && paired * 4 < heavy)
        return badInput("only " + std::to_string(paired) + " of the float model's " + std::to_string(heavy)
                + " convolutions and matrix products have a partner here: it is another network",
            g.q.plan().model().path, remedy);
    if (paired > 0 && alike * 4 < paired)
        return badInput("the weights of " + std::to_string(paired - alike) + " of " + std::to_string(paired)
                + " layers have nothing in common with the float model's: it is another network",
            g.q.plan().model().path, remedy);
    return {};
}

} // namespace qs
