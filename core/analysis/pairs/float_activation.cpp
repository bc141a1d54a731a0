// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/pairs/float_activation.h"

#include "core/qdq/qlinear_signature.h"
#include "core/qdq/range_cut.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <limits>

namespace qs {

namespace {

constexpr float kEndless = std::numeric_limits<float>::infinity();
constexpr size_t kFarthestBack = 64; ///< operators that are gone back past: each value of a chain goes back by itself

bool isReshape(const std::string& type)
{
    return type == "Reshape" || type == "Flatten" || type == "Squeeze" || type == "Unsqueeze" || type == "Identity";
}

bool isActivation(const std::string& type) { return type == "Relu" || type == "Clip"; }

/// Bounds of a Relu or Clip; open where they are computed.
PairActivation boundsOf(const Plan& plan, const Node& node)
{
    PairActivation a;
    if (node.opType == "Relu") {
        a.low = 0;
        return a;
    }
    a.low = node.attributes.real("min", a.low);
    a.high = node.attributes.real("max", a.high);
    const auto bound = [&](size_t i, float& target) {
        if (!node.hasInput(i))
            return;
        if (const Tensor* t = plan.constant(node.inputs[i]); t && t->count() == 1)
            target = toFloats(*t)[0];
    };
    bound(1, a.low);
    bound(2, a.high);
    return a;
}

/// A reshape of the activation's output has the same numbers.
NodeId behindReshapes(const Graph& graph, NodeId node)
{
    for (size_t i = 0;
         i < kFarthestBack && node.valid() && isReshape(graph.node(node).opType) && graph.node(node).hasInput(0); ++i)
        node = graph.value(graph.node(node).inputs[0]).producer;
    return node;
}

bool cuts(const QuantParams& params, const PairActivation& bounds)
{
    return rangeCuts(params, { bounds.low, bounds.high });
}

/// What is left to do where the value has these bounds already.
PairActivation beyond(PairActivation wanted, const PairActivation& has)
{
    if (has.low >= wanted.low)
        wanted.low = -kEndless;
    if (has.high <= wanted.high)
        wanted.high = kEndless;
    return wanted;
}

/// What is left to do of `wanted`, going back from a value past quantizers, which cut, reshapes, Relu and Clip.
PairActivation leftTo(const ComparePair& pair, ValueId value, PairActivation wanted)
{
    const Graph& graph = pair.quantPlan->graph();
    NodeId at = graph.value(value).producer;
    for (size_t i = 0; at.valid() && wanted.bounded() && i < kFarthestBack; ++i, at = graph.value(value).producer) {
        const Node& node = graph.node(at);
        if (const auto quantizer = pair.quantView->ofQuantized(value)) {
            const QuantParams& params = pair.quantView->quantizers()[*quantizer].params;
            if (cuts(params, { wanted.low, kEndless }))
                wanted.low = -kEndless;
            if (cuts(params, { -kEndless, wanted.high }))
                wanted.high = kEndless;
        }
        if (isActivation(node.opType))
            wanted = beyond(wanted, boundsOf(*pair.quantPlan, node));
        else if (!isReshape(node.opType) && !pair.quantView->isPlumbing(at))
            return wanted;
        if (!node.hasInput(0))
            return wanted;
        value = node.inputs[0];
    }
    return {}; // an input, a constant or far away: nothing was left out before it
}

/// Of a Relu or Clip, and of those right before it.
PairActivation boundsOfChain(const Plan& plan, NodeId node)
{
    const Graph& graph = plan.graph();
    PairActivation all;
    for (size_t i = 0;
         i < kFarthestBack && node.valid() && isActivation(graph.node(node).opType) && graph.node(node).hasInput(0);
         ++i, node = behindReshapes(graph, graph.value(graph.node(node).inputs[0]).producer)) {
        const PairActivation one = boundsOf(plan, graph.node(node));
        all = { std::max(all.low, one.low), std::min(all.high, one.high) };
    }
    return all;
}

/// Some Relu or Clip stands behind the value, perhaps past quantizers and operators that move its elements.
bool boundedLater(const ComparePair& pair, ValueId value)
{
    constexpr size_t kMost = 16; // values
    const Graph& graph = pair.quantPlan->graph();
    std::vector<ValueId> front { value };
    for (size_t i = 0; i < front.size() && i < kMost; ++i)
        for (const Use& use : graph.value(front[i]).uses) {
            const NodeId reader = use.node;
            const Node& node = graph.node(reader);
            if (isActivation(floatOpType(node)))
                return true;
            if ((movesElements(node) || pair.quantView->isPlumbing(reader)) && node.hasOutput(0))
                front.push_back(node.outputs[0]);
        }
    return false;
}

} // namespace

PairActivation activationBehind(const ComparePair& pair, ValueId y)
{
    const Graph& graph = pair.quantPlan->graph();
    const auto& uses = graph.value(y).uses;
    if (uses.empty() || graph.isOutput(y))
        return {};
    PairActivation all { kEndless, -kEndless };
    for (const Use& use : uses) {
        const Node& node = graph.node(use.node);
        if (!isActivation(node.opType) || use.slot != 0)
            return {};
        const PairActivation one = boundsOf(*pair.quantPlan, node);
        all = { std::min(all.low, one.low), std::max(all.high, one.high) };
    }
    return all;
}

FloatActivation floatActivation(const ComparePair& pair, ValueId x, const OwnQuantizer& quantizer, ValueId y)
{
    const Graph& fg = pair.floatPlan->graph();
    const NodeId made = behindReshapes(fg, fg.value(x).producer);
    if (!made.valid() || !isActivation(fg.node(made).opType))
        return {};
    FloatActivation found { boundsOfChain(*pair.floatPlan, made), fg.node(made).opType, made, false };
    if (!quantizer.params) {
        found.bounds = leftTo(pair, y, found.bounds);
        found.lost = found.bounds.bounded();
    } else {
        if (quantizer.before.valid())
            found.bounds = leftTo(pair, quantizer.before, found.bounds);
        found.lost = found.bounds.bounded() && !cuts(*quantizer.params, found.bounds);
    }
    if (!found.bounds.bounded() || (found.lost && boundedLater(pair, y)))
        return {};
    return found;
}

} // namespace qs
