// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/lab/element_differences.h"
#include "core/analysis/pairs/pair_plan.h"

#include <map>
#include <set>

namespace qs {

namespace {

/// The partner in a quantized model, by float value: those that can be read.
std::map<ValueId, ValueId> partners(const ComparePair& pair)
{
    std::map<ValueId, ValueId> list;
    for (const PairPlan& plan : planPairs(pair))
        if (!plan.beforeRounding.valid())
            list.emplace(plan.x, plan.y);
    for (const OutputPair& out : pairOutputs(pair))
        list[out.x] = out.y;
    return list;
}

/// Float values in the order of the graph, its outputs first and its inputs left out.
std::vector<ValueId> inOrder(const Graph& graph)
{
    std::vector<ValueId> list(graph.outputs().begin(), graph.outputs().end());
    const std::set<ValueId> outputs(list.begin(), list.end());
    for (size_t n = 0; n < graph.nodes().size(); ++n)
        for (const ValueId out : graph.nodes()[n].outputs)
            if (out.valid() && !outputs.contains(out))
                list.push_back(out);
    return list;
}

/// What the next node sees of a value.
ValueId behindQuantizer(const Plan& plan, const QuantView& quant, ValueId id)
{
    const auto index = plan.graph().isOutput(id) ? std::nullopt : quant.ofValue(id);
    const Quantizer* q = index ? &quant.quantizers()[*index] : nullptr;
    if (!q || q->real != id || !q->shown().valid() || plan.blocked(q->shown()) || plan.hidden(q->shown()))
        return id;
    return q->shown();
}

} // namespace

std::vector<ElementPair> elementPairs(const ComparePair& a, const ComparePair& b)
{
    const Graph& graph = a.floatPlan->graph();
    const auto first = partners(a), second = partners(b);
    std::vector<ElementPair> pairs;
    for (const ValueId x : inOrder(graph))
        if (first.contains(x) && second.contains(x))
            pairs.push_back({ graph.value(x).name, first.at(x), second.at(x), graph.isOutput(x) });
    return pairs;
}

std::vector<ElementPair> elementPairs(const ComparePair& pair, const QuantView& firstQuant)
{
    const Graph& graph = pair.floatPlan->graph();
    const auto second = partners(pair);
    std::vector<ElementPair> pairs;
    std::set<std::pair<ValueId, ValueId>> known;
    for (const ValueId x : inOrder(graph)) {
        if (!second.contains(x))
            continue;
        const ValueId a = behindQuantizer(*pair.floatPlan, firstQuant, x), b = second.at(x);
        if (!pair.floatPlan->hidden(a) && known.emplace(a, b).second)
            pairs.push_back({ graph.value(x).name, a, b, graph.isOutput(x) });
    }
    return pairs;
}

} // namespace qs
