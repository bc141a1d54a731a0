// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/bypass/network_outputs.h"

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

} // namespace qs
