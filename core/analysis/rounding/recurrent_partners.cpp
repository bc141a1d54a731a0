// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rounding/recurrent_partners.h"

#include "core/analysis/rounding/attribute_differences.h"

#include <algorithm>

namespace qs {

namespace {

constexpr size_t kInputWeights = 1, kRecurrentWeights = 2; // slots

bool isRecurrent(const Node& node) { return node.is("GRU") || node.is("LSTM") || node.is("RNN"); }

std::vector<NodeId> recurrentNodes(const Graph& graph)
{
    std::vector<NodeId> nodes;
    for (size_t n = 0; n < graph.nodes().size(); ++n)
        if (isRecurrent(graph.nodes()[n]))
            nodes.emplace_back(n);
    return nodes;
}

/// Operator and weights of one size.
bool areAlike(const ComparePair& pair, NodeId floatNode, NodeId quantNode)
{
    const Node &f = pair.floatPlan->graph().node(floatNode), &q = pair.quantPlan->graph().node(quantNode);
    if (f.opType != q.opType)
        return false;
    return std::ranges::all_of(std::vector { kInputWeights, kRecurrentWeights }, [&](size_t slot) {
        const Tensor* a = f.hasInput(slot) ? pair.floatPlan->constant(f.inputs[slot]) : nullptr;
        const Tensor* b = q.hasInput(slot) ? pair.quantPlan->constant(q.inputs[slot]) : nullptr;
        return a && b && a->shape() == b->shape();
    });
}

} // namespace

std::vector<std::pair<NodeId, NodeId>> recurrentPartners(const ComparePair& pair)
{
    std::vector<NodeId> ofFloat = recurrentNodes(pair.floatPlan->graph()),
                        ofQuant = recurrentNodes(pair.quantPlan->graph());
    std::vector<std::pair<NodeId, NodeId>> found;
    if (ofFloat.empty() || ofQuant.empty())
        return found;
    const FunctionPartners partners(pair);
    const auto pairUp = [&](NodeId f, NodeId q) {
        found.emplace_back(f, q);
        std::erase(ofFloat, f);
        std::erase(ofQuant, q);
    };
    for (const NodeId q : std::vector(ofQuant))
        if (const NodeId f = partners.of(q); std::ranges::find(ofFloat, f) != ofFloat.end() && areAlike(pair, f, q))
            pairUp(f, q);
    for (const NodeId q : std::vector(ofQuant)) {
        const auto alike = [&](NodeId f) { return areAlike(pair, f, q); };
        const auto f = std::ranges::find_if(ofFloat, alike);
        if (f != ofFloat.end() && std::ranges::count_if(ofFloat, alike) == 1
            && std::ranges::count_if(ofQuant, [&](NodeId other) { return areAlike(pair, *f, other); }) == 1)
            pairUp(NodeId(*f), q);
    }
    return found;
}

} // namespace qs
