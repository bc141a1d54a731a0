// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rounding/smoothed_values.h"

#include "core/analysis/pairs/folded_constants.h"
#include "core/match/graph/input_scales.h"

#include <optional>
#include <unordered_map>

namespace qs {

namespace {

class SmoothedValues {
public:
    explicit SmoothedValues(const ComparePair& pair)
        : m_pair(pair)
        , m_plan(*pair.floatPlan)
    {
        for (const ValuePair& value : pair.alignment->values)
            m_partners.emplace(value.floatValue, value.quantValue);
        for (const auto& [product, other] : pair.alignment->products)
            goBackFrom(product);
    }
    EqualizedValues found;

private:
    /// As long as the values are of another size.
    void goBackFrom(NodeId product)
    {
        const Node& node = m_plan.graph().node(product);
        const InputChannels channels = inputChannels(m_plan, product);
        ValueId value = channels.count > 0 && node.hasInput(0) ? node.inputs[0] : ValueId();
        while (value.valid() && !found.contains(value)) {
            const std::vector<double> factors = factorsOf(value, channels);
            if (factors.empty() || !takesAway(product, node.inputs[1]))
                return;
            found[value] = { { factors.begin(), factors.end() }, channels.last };
            value = variableInput(m_plan.graph().value(value).producer);
        }
    }

    std::vector<double> factorsOf(ValueId value, const InputChannels& channels) const
    {
        const auto partner = m_partners.find(value);
        return partner == m_partners.end() ? std::vector<double>()
                                           : ownInputFactors(inputScales(m_plan, value, channels),
                                               inputScales(*m_pair.quantPlan, partner->second, channels));
    }

    bool takesAway(NodeId product, ValueId weight)
    {
        if (!m_folded)
            m_folded.emplace(m_pair, FoldedConstants::Factors::Stored);
        return m_folded->of(product, weight) != m_plan.constant(weight);
    }

    /// Of two, the one that is no constant; invalid for other nodes.
    ValueId variableInput(NodeId id) const
    {
        if (!id.valid() || m_plan.graph().node(id).inputs.size() != 2)
            return {};
        const Node& node = m_plan.graph().node(id);
        for (const size_t slot : { size_t(0), size_t(1) })
            if (node.hasInput(slot) && m_plan.constant(node.inputs[slot]))
                return node.inputs[1 - slot];
        return {};
    }

    const ComparePair& m_pair;
    const Plan& m_plan;
    std::unordered_map<ValueId, ValueId> m_partners;
    std::optional<FoldedConstants> m_folded;
};

} // namespace

EqualizedValues smoothedValues(const ComparePair& pair) { return SmoothedValues(pair).found; }

std::set<ValueId> smoothedConstants(const ComparePair& pair)
{
    std::set<ValueId> constants;
    for (const auto& [value, factors] : smoothedValues(pair))
        if (const NodeId id = pair.floatPlan->graph().value(value).producer; id.valid())
            for (const ValueId in : pair.floatPlan->graph().node(id).inputs)
                if (in.valid() && pair.floatPlan->constant(in))
                    constants.insert(in);
    return constants;
}

} // namespace qs
