// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/match/alignment.h"

#include "core/match/judged_pairs.h"
#include "core/match/same_network.h"
#include "core/match/seeds.h"
#include "core/match/value_pairs.h"
#include "core/match/weight_pairs.h"

#include <algorithm>
#include <set>

namespace qs {

std::string_view matchMethodName(MatchMethod method)
{
    switch (method) {
    case MatchMethod::Manual:
        return "manual";
    case MatchMethod::Name:
        return "name";
    case MatchMethod::Suffix:
        return "suffix";
    case MatchMethod::Unit:
        return "unit";
    case MatchMethod::Topology:
        return "topology";
    case MatchMethod::Numeric:
        return "numeric";
    }
    return "topology";
}

std::string_view whyAloneName(WhyAlone why)
{
    switch (why) {
    case WhyAlone::Linked:
        return "linked";
    case WhyAlone::Unread:
        return "unread";
    case WhyAlone::Constant:
        return "constant";
    case WhyAlone::Sizes:
        return "sizes";
    case WhyAlone::RemovedActivation:
        return "removed_activation";
    case WhyAlone::OtherSteps:
        return "other_steps";
    }
    return "other_steps";
}

std::string_view whyAloneText(WhyAlone why)
{
    switch (why) {
    case WhyAlone::Linked:
        return "alike by its numbers with a value that has a partner";
    case WhyAlone::Unread:
        return "no output depends on it";
    case WhyAlone::Constant:
        return "a constant in the other file";
    case WhyAlone::Sizes:
        return "it follows from sizes alone";
    case WhyAlone::RemovedActivation:
        return "the other file has no such activation here";
    case WhyAlone::OtherSteps:
        return "the other file computes what follows in other steps";
    }
    return "the other file computes what follows in other steps";
}

NodeId nodeAround(const std::vector<InsideValue>& inside, ValueId value)
{
    const auto it = std::ranges::find(inside, value, &InsideValue::value);
    return it == inside.end() ? NodeId() : it->node;
}

namespace {

/// A pair made by hand stays one where the value shown is another than the one named: inside a Q/DQ unit.
void markManual(const GraphPair& g, const ManualPairs& manual, Alignment& result)
{
    for (const auto& [floatName, quantName] : manual) {
        const auto pair = std::ranges::find(result.values, g.f.graph().findValue(floatName), &ValuePair::floatValue);
        if (pair == result.values.end() || g.q.root(pair->quantValue) != g.q.root(g.q.graph().findValue(quantName)))
            continue;
        pair->method = MatchMethod::Manual;
        pair->confidence = 1;
    }
}

void keepApart(const GraphPair& g, const ManualPairs& apart, Alignment& result)
{
    for (const auto& [floatName, quantName] : apart)
        result.apart.emplace_back(g.f.graph().findValue(floatName), g.q.graph().findValue(quantName));
    std::erase_if(result.values, [&](const ValuePair& pair) {
        return std::ranges::count(result.apart, std::pair(pair.floatValue, pair.quantValue)) > 0;
    });
}

/// Values inside a unit: the integer accumulator and what scales it.
bool isInner(const GraphPair& g, const std::set<ValueId>& pairedRoots, ValueId q)
{
    const NodeId producer = g.q.graph().value(q).producer;
    if (producer.valid() && g.q.kind(producer) == FlowKind::Reshape && !g.q.dataInputs(producer).empty()
        && pairedRoots.contains(g.q.dataInputs(producer)[0]))
        return true; // a copy of a paired value in another shape
    return producer.valid()
        && (g.view.isPlumbing(producer) || g.q.graph().node(producer).opType == "ConvInteger"
            || g.q.graph().node(producer).opType == "MatMulInteger");
}

/// In the order of the float file.
void listProducts(const GraphPair& g, const Correspondence& found, Alignment& result)
{
    for (size_t n = 0; n < g.f.graph().nodes().size(); ++n)
        if (const auto it = found.nodes.find(NodeId(n)); it != found.nodes.end() && g.f.isHeavy(NodeId(n)))
            result.products.emplace_back(NodeId(n), it->second);
}

void listUnmatched(const GraphPair& g, const Correspondence& found, Alignment& result)
{
    std::set<ValueId> floatDone, quantDone, pairedRoots;
    for (const ValuePair& p : result.values) {
        floatDone.insert(p.floatValue);
        if (const auto it = found.values.find(p.floatValue); it != found.values.end())
            quantDone.insert(it->second.root); // shown by a quantizer behind it
        quantDone.insert(g.q.root(p.quantValue));
        quantDone.insert(p.quantValue);
    }
    for (const auto& [f, match] : found.values)
        pairedRoots.insert(match.root);
    for (ValueId f : g.f.activations())
        if (!floatDone.contains(f))
            result.unmatchedFloat.push_back(f);
    for (ValueId q : g.q.activations())
        if (!quantDone.contains(q) && !isInner(g, pairedRoots, q))
            result.unmatchedQuant.push_back(q);
}

} // namespace

Result<Alignment> align(const Plan& floatPlan, const Plan& quantPlan, const QuantView& quantView,
    const ManualLinks& manual, bool oneNetwork, const ValueEvidence* evidence)
{
    const GraphPair g { CanonicalGraph(floatPlan, nullptr), CanonicalGraph(quantPlan, &quantView), quantView,
        evidence };
    QS_TRY(Correspondence found, seedPairs(g, manual.pairs));
    extendByTopology(g, found);
    if (pairEquals(g, found))
        extendByTopology(g, found);
    Alignment result;
    result.weights = weightPairs(g, found);
    listProducts(g, found, result);
    if (!oneNetwork)
        QS_CHECK(checkOneNetwork(g, found, result.weights, result.strangers));
    result.values = valuePairs(g, found);
    markManual(g, manual.pairs, result);
    if (evidence)
        judgePairs(g, result);
    keepApart(g, manual.apart, result);
    listUnmatched(g, found, result);
    return result;
}

} // namespace qs
