// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/match/judged_pairs.h"

#include "core/match/confidence.h"

#include <algorithm>
#include <set>

namespace qs {

namespace {

/// Elements in the same number, but not in the same order.
bool axesDiffer(const GraphPair& g, const ValuePair& pair)
{
    const auto a = g.f.dims(pair.floatValue), b = g.q.dims(pair.quantValue);
    if (!a || !b || a->size() != b->size())
        return false;
    for (size_t i = 0; i < a->size(); ++i)
        if ((*a)[i].known() && (*b)[i].known() && (*a)[i].value != (*b)[i].value)
            return true;
    return false;
}

/// Made by an operator that has its channels last, as ONNX Runtime's optimizer makes of others, or of such a value.
bool hasChannelsLast(const CanonicalGraph& g, ValueId value)
{
    constexpr size_t kMost = 32; // nodes that are looked back
    for (size_t i = 0; i < kMost; ++i) {
        const NodeId producer = g.graph().value(value).producer;
        if (!producer.valid())
            return false;
        const Node& node = g.graph().node(producer);
        if (node.opType == "NhwcMaxPool" || node.attributes.integer("channels_last", 0) != 0)
            return true;
        const auto inputs = g.dataInputs(producer);
        if (inputs.empty() || node.opType == "Transpose" || node.opType == "Reshape")
            return false;
        value = inputs[0];
    }
    return false;
}

class Judge {
public:
    Judge(const GraphPair& g, const std::vector<WeightPair>& weights, std::vector<ValuePair>& pairs)
        : m_g(g)
        , m_pairs(pairs)
    {
        for (const WeightPair& weight : weights)
            m_products.emplace(weight.floatNode, weight.quantNode);
        for (const ValuePair& pair : pairs)
            m_used.insert(pair.quantValue);
    }

    void run()
    {
        std::erase_if(m_pairs, [&](ValuePair& pair) { return pair.method != MatchMethod::Manual && !keep(pair); });
    }

private:
    bool keep(ValuePair& pair)
    {
        const ValueId before = ValueEvidence::beforeBounds(m_g.q.graph(), pair.quantValue);
        const bool bounded = pair.unrounded.valid() && m_g.evidence->tellsOfQuant(before);
        const Verdict verdict = m_g.evidence->verdict(pair.floatValue, bounded ? before : pair.quantValue);
        const bool fault = verdict == Verdict::Different && !isReplaced(pair) && !moveBefore(pair);
        if (fault && !isOneStep(pair))
            return false;
        if (verdict == Verdict::Unknown && (axesDiffer(m_g, pair) || isTurned(pair)))
            return false;
        pair.confidence
            = confidenceOf(pair.method, fault || verdict == Verdict::Unknown ? Proof::None : proof(), pair.confidence);
        return true;
    }

    /// The same step by its name or by the weights that it reads: its other numbers may be a fault's, and are to be
    /// seen.
    bool isOneStep(const ValuePair& pair) const
    {
        const ValueId root = m_g.q.root(pair.quantValue);
        const bool named = pair.method == MatchMethod::Name || pair.method == MatchMethod::Suffix;
        return m_g.mayBeFault(pair.floatValue, root)
            && (named
                || m_products.contains(
                    { m_g.f.graph().value(pair.floatValue).producer, m_g.q.graph().value(root).producer }));
    }

    /// Of equal sizes, as the shapes say, and yet with its axes in another order.
    bool isTurned(const ValuePair& pair) const
    {
        return hasChannelsLast(m_g.f, pair.floatValue) != hasChannelsLast(m_g.q, pair.quantValue);
    }

    Proof proof() const
    {
        const Closeness& closeness = m_g.evidence->closeness();
        return closeness.bothWays ? (closeness.nearest < 0.1 ? Proof::Exact : Proof::StoredWeights) : Proof::Rounded;
    }

    /// By the quantizer, see GraphPair::replaces().
    bool isReplaced(const ValuePair& pair) const
    {
        const NodeId producer = m_g.f.graph().value(pair.floatValue).producer;
        if (!producer.valid() || !pair.quantizer)
            return false;
        const auto inputs = m_g.f.dataInputs(producer);
        return !inputs.empty() && m_g.replaces(m_g.q.root(pair.quantValue), inputs[0], producer);
    }

    /// To the value before the quantizer.
    bool moveBefore(ValuePair& pair)
    {
        if (!pair.quantizer)
            return false;
        const ValueId real = m_g.view.quantizers()[*pair.quantizer].real;
        if (!real.valid() || m_g.evidence->verdict(pair.floatValue, real) != Verdict::Same || m_used.contains(real))
            return false;
        m_used.insert(real);
        pair.quantValue = real;
        pair.quantizer.reset();
        return true;
    }

    const GraphPair& m_g;
    std::vector<ValuePair>& m_pairs;
    std::set<ValueId> m_used; ///< values of the quantized graph
    std::set<std::pair<NodeId, NodeId>> m_products; ///< with weights that are paired
};

} // namespace

void judgePairs(const GraphPair& g, Alignment& alignment)
{
    for (const ValuePair& p : alignment.values)
        if (p.method == MatchMethod::Manual && g.verdict(p.floatValue, g.q.root(p.quantValue)) == Verdict::Different)
            alignment.disputed.emplace_back(p.floatValue, p.quantValue);
    Judge(g, alignment.weights, alignment.values).run();
}

} // namespace qs
