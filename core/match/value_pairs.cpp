// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/match/value_pairs.h"

#include <algorithm>
#include <map>

namespace qs {

namespace {

/// Of float values that share one quantized root, in topological order.
void addChain(const GraphPair& g, const Correspondence& found, ValueId root, const std::vector<ValueId>& chain,
    std::vector<ValuePair>& pairs)
{
    const auto quantizer = g.view.ofValue(root);
    const ValueId scaled = g.view.scaledSums(root);
    const ValueId shown = quantizer ? g.view.quantizers()[*quantizer].shown() : scaled.valid() ? scaled : root;
    bool before = false; // past an activation that the quantizer replaces: only the value before the quantizer fits
    for (size_t i = chain.size(); i-- > 0;) {
        const RootMatch& match = found.values.at(chain[i]);
        if (!before) {
            pairs.push_back({ chain[i], shown, match.method, match.confidence, quantizer, NodeId() });
        } else {
            const ValueId real = quantizer ? g.view.quantizers()[*quantizer].real : ValueId();
            const NodeId pf = g.f.graph().value(chain[i]).producer, pq = g.q.graph().value(root).producer;
            if (pf.valid() && pq.valid()
                && (g.f.opClass(pf) == g.q.opClass(pq) || g.verdict(chain[i], root) == Verdict::Same)) {
                if (real.valid())
                    pairs.push_back(
                        { chain[i], real, MatchMethod::Unit, 0.95 * match.confidence, std::nullopt, NodeId() });
                else if (quantizer && g.q.plan().step(pq).lowered && g.q.plan().step(pq).lowered->offersUnrounded)
                    pairs.push_back({ chain[i], shown, MatchMethod::Unit, 0.95 * match.confidence, std::nullopt, pq });
            }
            return;
        }
        const NodeId producer = g.f.graph().value(chain[i]).producer;
        if (i == 0 || !producer.valid())
            return;
        switch (g.f.kind(producer)) {
        case FlowKind::Reshape:
            break;
        case FlowKind::Activation:
            before = true;
            break;
        default:
            return;
        }
        const auto inputs = g.f.dataInputs(producer);
        if (inputs.empty() || inputs[0] != chain[i - 1])
            return;
    }
}

} // namespace

size_t placeOf(const Graph& floatGraph, const ValuePair& pair)
{
    const NodeId producer = floatGraph.value(pair.floatValue).producer;
    return producer.valid() ? producer.index() + 1 : 0;
}

std::vector<ValuePair> valuePairs(const GraphPair& g, const Correspondence& found)
{
    std::map<ValueId, std::vector<ValueId>> byRoot;
    for (ValueId f : g.f.activations())
        if (const auto it = found.values.find(f); it != found.values.end() && !it->second.wayPoint)
            byRoot[it->second.root].push_back(f);
    std::vector<ValuePair> pairs;
    for (const auto& [root, chain] : byRoot)
        addChain(g, found, root, chain, pairs);
    std::ranges::sort(pairs, {}, [&](const ValuePair& pair) { return placeOf(g.f.graph(), pair); });
    return pairs;
}

} // namespace qs
