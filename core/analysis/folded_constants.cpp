// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/folded_constants.h"

#include "core/prepare/prepare.h"

#include <algorithm>

namespace qs {

namespace {

bool normalizes(const Graph& graph)
{
    return std::ranges::any_of(graph.nodes(), [](const Node& n) { return n.is("BatchNormalization"); });
}

} // namespace

FoldedConstants::FoldedConstants(const ComparePair& pair)
    : m_plan(*pair.floatPlan)
{
    if (!normalizes(m_plan.graph()) || normalizes(pair.quantPlan->graph()))
        return;
    GraphDraft draft(std::make_shared<const Model>(m_plan.model()));
    if (!foldConstants(draft).ok() || !foldBatchNorm(draft).ok())
        return;
    for (const DraftNode& node : draft.nodes) {
        if (!node.origin.valid() || (node.opType != "Conv" && node.opType != "ConvTranspose"))
            continue;
        for (const size_t slot : { size_t(1), size_t(2) }) {
            const Tensor* now = node.hasInput(slot) ? draft.constant(node.inputs[slot]) : nullptr;
            const Node& before = m_plan.graph().node(node.origin);
            const Tensor* old = before.hasInput(slot) ? m_plan.constant(before.inputs[slot]) : nullptr;
            if (now && (!old || !std::ranges::equal(old->bytes(), now->bytes())))
                m_changed.emplace(std::pair(node.origin, slot), *now);
        }
    }
}

const Tensor* FoldedConstants::at(NodeId floatNode, size_t slot) const
{
    const auto it = m_changed.find({ floatNode, slot });
    return it == m_changed.end() ? nullptr : &it->second;
}

const Tensor* FoldedConstants::of(const WeightPair& weight) const
{
    const auto& inputs = m_plan.graph().node(weight.floatNode).inputs;
    const auto slot = size_t(std::ranges::find(inputs, weight.floatValue) - inputs.begin());
    const Tensor* folded = at(weight.floatNode, slot);
    return folded ? folded : m_plan.constant(weight.floatValue);
}

} // namespace qs
