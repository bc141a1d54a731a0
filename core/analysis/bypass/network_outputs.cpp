// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/bypass/network_outputs.h"

#include "core/qdq/name_tails.h"

#include <algorithm>
#include <set>

namespace qs {

namespace {

/// A type that rounding moves by little; unknown ones are taken for it.
bool isReal(const Plan& plan, ValueId id)
{
    const DType type = plan.facts().of(id).dtype;
    return type == DType::Undefined || isFloat(type);
}

/// The values of both networks that have this name, in the quantized file perhaps that of their codes.
std::optional<std::pair<ValueId, ValueId>> namesakes(const TwoNetworks& networks, const std::string& name)
{
    const ValueId one = networks.f->graph().findValue(name);
    ValueId other = networks.b->graph().findValue(name);
    if (!other.valid())
        other = networks.b->graph().findValue(name + tails::kCodes);
    if (!one.valid() || !other.valid() || networks.f->blocked(one) || networks.b->blocked(other)
        || networks.f->constant(one) || networks.b->constant(other) || !isReal(*networks.f, one)
        || !isReal(*networks.b, other))
        return std::nullopt;
    return std::pair(one, other);
}

class OutputFinder {
public:
    OutputFinder(const TwoNetworks& networks, const ComparePair& pair)
        : m_two(networks)
        , m_pair(pair)
    {
    }

    std::vector<ValueOfBoth> find()
    {
        for (const OutputPair& out : pairOutputs(m_pair))
            add(m_two.f->graph().findValue(m_pair.floatPlan->graph().value(out.x).name),
                m_two.b->graph().findValue(m_pair.quantPlan->graph().value(out.y).name), out.x);
        return std::move(m_found);
    }

private:
    void add(ValueId x, ValueId y, ValueId shown)
    {
        if (!x.valid() || !y.valid() || m_two.f->blocked(x) || m_two.b->blocked(y) || m_two.f->constant(x)
            || m_two.b->constant(y) || !m_seen.insert({ x, y }).second)
            return;
        if (isReal(*m_two.f, x) && isReal(*m_two.b, y)) {
            const ValueId own = m_pair.floatPlan->graph().findValue(m_two.f->graph().value(x).name);
            m_found.push_back({ x, y, own.valid() ? own : shown });
            return;
        }
        const NodeId first = m_two.f->graph().value(x).producer, second = m_two.b->graph().value(y).producer;
        if (!first.valid() || !second.valid())
            return;
        const Node &a = m_two.f->graph().node(first), &b = m_two.b->graph().node(second);
        if (a.opType == b.opType)
            for (size_t slot = 0; slot < std::min(a.inputs.size(), b.inputs.size()); ++slot)
                add(a.inputs[slot], b.inputs[slot], shown);
    }

    const TwoNetworks& m_two;
    const ComparePair& m_pair;
    std::vector<ValueOfBoth> m_found;
    std::set<std::pair<ValueId, ValueId>> m_seen;
};

} // namespace

std::vector<ValueOfBoth> comparableOutputs(const TwoNetworks& networks, const ComparePair& pair)
{
    return OutputFinder(networks, pair).find();
}

std::vector<ValueOfBoth> comparableValues(
    const TwoNetworks& networks, const ComparePair& pair, const std::vector<PairPlan>& pairs)
{
    std::vector<ValueOfBoth> values;
    for (const PairPlan& p : pairs) {
        if (p.pair.unrounded.valid())
            continue; // before an activation that the bypassed operator does, too: it gives out what is behind
        // Of a dynamic quantizer there are the reals that it is given; its codes are still made.
        const Quantizer* q = p.pair.quantizer ? &pair.quantView->quantizers()[*p.pair.quantizer] : nullptr;
        const ValueId y = q && q->dynamic && q->real.valid() ? q->real : p.pair.quantValue;
        const ValueId one = networks.f->graph().findValue(pair.floatPlan->graph().value(p.x).name);
        const ValueId other = networks.b->graph().findValue(pair.quantPlan->graph().value(y).name);
        if (one.valid() && other.valid() && !networks.f->blocked(one) && !networks.b->blocked(other)
            && !networks.b->constant(other) && isReal(*networks.f, one) && isReal(*networks.b, other))
            values.push_back({ one, other, p.x });
    }
    return values;
}

std::vector<ValueOfBoth> namesakesBefore(const TwoNetworks& networks, const ComparePair& pair, ValueId place)
{
    const Graph& graph = pair.floatPlan->graph();
    const auto& alone = pair.alignment->unmatchedFloat; // topological order
    const std::set<ValueId> unpaired(alone.begin(), alone.end());
    std::set<ValueId> before;
    std::vector<ValueId> front { place };
    while (!front.empty()) {
        const NodeId producer = graph.value(front.back()).producer;
        front.pop_back();
        for (const ValueId in : producer.valid() ? graph.node(producer).inputs : std::vector<ValueId> {})
            if (in.valid() && unpaired.contains(in) && before.insert(in).second)
                front.push_back(in);
    }
    std::vector<ValueOfBoth> values;
    for (const ValueId v : alone)
        if (before.contains(v))
            if (const auto both = namesakes(networks, graph.value(v).name))
                values.push_back({ both->first, both->second, v });
    return values;
}

} // namespace qs
