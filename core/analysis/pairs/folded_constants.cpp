// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/pairs/folded_constants.h"

#include "core/prepare/prepare.h"
#include "core/qdq/qlinear_signature.h"

#include <algorithm>
#include <set>

namespace qs {

namespace {

bool normalizes(const Graph& graph)
{
    return std::ranges::any_of(graph.nodes(), [](const Node& n) { return n.is("BatchNormalization"); });
}

/// The single reader of what a node makes; invalid where there are none or several.
NodeId onlyReader(const Graph& graph, NodeId id)
{
    const auto& outputs = graph.node(id).outputs;
    if (outputs.empty() || !outputs[0].valid() || graph.isOutput(outputs[0]))
        return {};
    const auto& uses = graph.value(outputs[0]).uses;
    return uses.size() == 1 ? uses[0].node : NodeId();
}

/// The node is followed by a BatchNormalization that its weight has not taken in. Training with simulated quantization
/// stores weights that have, divides by the factor again, and keeps the normalization for what is left of it.
bool keepsNormalization(const Plan& plan, NodeId id)
{
    const Graph& graph = plan.graph();
    const bool scaled = graph.node(id).is("MatMulInteger") || graph.node(id).is("ConvInteger"); // sums of codes
    for (NodeId next = onlyReader(graph, id); next.valid(); next = onlyReader(graph, next)) {
        const Node& node = graph.node(next);
        if (node.is("BatchNormalization"))
            return true;
        const bool passes = isQuantizeLinear(node) || isDequantizeLinear(node) || node.is("Identity") || node.is("Cast")
            || (scaled && node.is("Mul"))
            || (node.is("Add")
                && std::ranges::any_of(node.inputs, [&](ValueId in) { return in.valid() && plan.constant(in); }));
        if (!passes)
            return false; // a Div, too
    }
    return false;
}

/// Nodes of the float graph whose stored weights have taken in what stands behind them.
std::set<NodeId> foldedNodes(const Plan& quantPlan, std::span<const WeightPair> weights)
{
    std::set<NodeId> nodes;
    const bool some = normalizes(quantPlan.graph());
    for (const WeightPair& weight : weights)
        if (!some || !keepsNormalization(quantPlan, weight.quantNode))
            nodes.insert(weight.floatNode);
    return nodes;
}

} // namespace

FoldedConstants::FoldedConstants(std::shared_ptr<const Plan> floatPlan)
    : m_plan(std::move(floatPlan))
{
}

FoldedConstants::FoldedConstants(const ComparePair& pair)
    : FoldedConstants(pair.floatPlan, *pair.quantPlan, pair.alignment->weights)
{
}

FoldedConstants::FoldedConstants(
    std::shared_ptr<const Plan> floatPlan, const Plan& quantPlan, std::span<const WeightPair> weights)
    : m_plan(std::move(floatPlan))
{
    if (!normalizes(m_plan->graph()))
        return;
    const std::set<NodeId> folded = foldedNodes(quantPlan, weights);
    GraphDraft draft(std::make_shared<const Model>(m_plan->model()));
    if (folded.empty() || !foldConstants(draft).ok() || !foldBatchNorm(draft).ok())
        return;
    for (const DraftNode& node : draft.nodes) {
        if (!folded.contains(node.origin)
            || (node.opType != "Conv" && node.opType != "ConvTranspose" && node.opType != "Gemm"))
            continue;
        for (const size_t slot : { size_t(1), size_t(2) }) {
            const Tensor* now = node.hasInput(slot) ? draft.constant(node.inputs[slot]) : nullptr;
            const Node& before = m_plan->graph().node(node.origin);
            const Tensor* old = before.hasInput(slot) ? m_plan->constant(before.inputs[slot]) : nullptr;
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

const Tensor* FoldedConstants::of(NodeId floatNode, ValueId constant) const
{
    const Tensor* folded = nullptr;
    if (!m_changed.empty() && floatNode.valid()) {
        const auto& inputs = m_plan->graph().node(floatNode).inputs;
        folded = at(floatNode, size_t(std::ranges::find(inputs, constant) - inputs.begin()));
    }
    return folded ? folded : m_plan->constant(constant);
}

} // namespace qs
