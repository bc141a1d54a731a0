// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/common/inner_op.h"

#include "core/engine/registry/registry.h"

namespace qs {

Node innerNode(std::string type, std::string domain, int opset)
{
    Node node;
    node.name = node.opType = std::move(type);
    node.domain = std::move(domain);
    node.opset = opset;
    return node;
}

InnerOp::Input InnerOp::of(const LowerContext& c, size_t slot)
{
    Input in { c.inputType(slot), {}, c.node.hasInput(slot) };
    if (const Tensor* constant = c.constant(slot))
        in.constant = *constant;
    return in;
}

Result<InnerOp> InnerOp::make(
    Node node, std::vector<Input> inputs, KernelMode mode, size_t outputs, PairSaturation saturation)
{
    const LowerFn lower = loweringRegistry().find(node);
    if (!lower)
        return internalError("the operator " + node.opType + " is not there");
    for (size_t i = 0; i < inputs.size(); ++i)
        node.inputs.push_back(inputs[i].present ? ValueId(i) : ValueId());
    for (size_t i = 0; i < outputs; ++i)
        node.outputs.emplace_back(inputs.size() + i);
    InnerOp op;
    op.m_node = std::make_shared<const Node>(std::move(node));
    std::vector<DType> types;
    for (Input& in : inputs) {
        types.push_back(in.constant.valid() ? in.constant.dtype() : in.type);
        op.m_constants.push_back(std::move(in.constant));
    }
    std::vector<const Tensor*> constants;
    for (const Tensor& t : op.m_constants)
        constants.push_back(t.valid() ? &t : nullptr);
    QS_TRY(op.m_lowered, lower({ *op.m_node, constants, types, mode, {}, {}, saturation }));
    return op;
}

Result<Tensor> InnerOp::run(const StepContext& outer, const std::vector<const Tensor*>& inputs) const
{
    QS_TRY(std::vector<Tensor> outputs, runAll(outer, inputs));
    return std::move(outputs[0]);
}

Result<std::vector<Tensor>> InnerOp::runAll(
    const StepContext& outer, const std::vector<const Tensor*>& inputs, Tensor* unrounded) const
{
    std::vector<Tensor> plain(inputs.size()), outputs(m_node->outputs.size());
    std::vector<const Tensor*> given = inputs;
    for (size_t i = 0; i < given.size() && m_lowered.layouts == LayoutRule::Plain; ++i)
        if (given[i] && given[i]->layout() != Layout::Plain) {
            plain[i] = outer.toLayout(*given[i], Layout::Plain);
            given[i] = &plain[i];
        }
    StepContext inner(given, outputs, outer.pool(), {}, outer.cancelToken());
    inner.useTeam(outer.team());
    inner.askUnrounded(unrounded);
    inner.askPairCounts(outer.pairCounts());
    QS_CHECK(m_lowered.run(inner));
    return outputs;
}

} // namespace qs
