// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/match/graph/folded_steps.h"

namespace qs {

namespace {

/// No step of the same node comes next: a BatchNormalization is two steps.
bool endsNode(const std::vector<ChannelStep>& steps, size_t i)
{
    return i + 1 == steps.size() || steps[i + 1].node != steps[i].node;
}

} // namespace

FoldedSteps::FoldedSteps(
    const Plan& floatPlan, NodeId ofFloat, const Plan& quantPlan, const QuantView& view, NodeId ofQuant)
    : m_float(floatPlan.graph())
    , m_quant(quantPlan.graph())
{
    if (const auto channels = productChannels(floatPlan, ofFloat)) {
        m_ofFloat = channelSteps(floatPlan, nullptr, ofFloat, *channels);
        m_ofQuant = channelSteps(quantPlan, &view, ofQuant, *channels);
    }
    m_own = ownSteps(m_ofFloat, m_ofQuant);
}

ValueId FoldedSteps::behindOwn() const
{
    if (m_own.ofFloat > 0 || m_own.ofQuant == 0 || !endsNode(m_ofQuant, m_own.ofQuant - 1))
        return {};
    return m_quant.node(m_ofQuant[m_own.ofQuant - 1].node).outputs[0];
}

std::vector<std::pair<ValueId, ValueId>> FoldedSteps::behindCommon() const
{
    std::vector<std::pair<ValueId, ValueId>> same;
    for (size_t f = m_own.ofFloat, q = m_own.ofQuant; f < m_ofFloat.size(); ++f, ++q) {
        const Node &ofFloat = m_float.node(m_ofFloat[f].node), &ofQuant = m_quant.node(m_ofQuant[q].node);
        if (ofFloat.opType != ofQuant.opType && endsNode(m_ofFloat, f) && endsNode(m_ofQuant, q))
            same.emplace_back(ofFloat.outputs[0], ofQuant.outputs[0]);
    }
    return same;
}

} // namespace qs
