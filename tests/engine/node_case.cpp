// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/engine/node_case.h"

#include "core/engine/registry/registry.h"

namespace qs::test {

NodeCase makeCase(const std::string& type, std::vector<Tensor> inputs, size_t outputs, const std::string& domain)
{
    NodeCase c;
    c.node.name = "node";
    c.node.opType = type;
    c.node.domain = domain;
    c.node.opset = domain.empty() ? 24 : 1;
    for (size_t i = 0; i < inputs.size(); ++i)
        c.node.inputs.push_back(inputs[i].valid() ? ValueId(i) : ValueId());
    for (size_t i = 0; i < outputs; ++i)
        c.node.outputs.emplace_back(inputs.size() + i);
    c.inputs = std::move(inputs);
    return c;
}

NodeCase atOpset(int opset, NodeCase c)
{
    c.node.opset = opset;
    return c;
}

NodeCase with(NodeCase c, const std::string& attribute, AttributeValue value)
{
    c.node.attributes.set(attribute, std::move(value));
    return c;
}

Result<NodeOutcome> run(const NodeCase& c, KernelMode mode, Weights weights)
{
    std::vector<const Tensor*> given, known;
    std::vector<DType> types;
    for (size_t i = 0; i < c.inputs.size(); ++i) {
        given.push_back(c.inputs[i].valid() ? &c.inputs[i] : nullptr);
        known.push_back(weights == Weights::Constant && i > 0 ? given.back() : nullptr);
        types.push_back(c.inputs[i].dtype());
    }
    const LowerFn lower = loweringRegistry().find(c.node);
    if (!lower)
        return internalError("no lowering");
    QS_TRY(const LoweredNode lowered, lower({ c.node, known, types, mode }));
    NodeOutcome out;
    out.outputs.resize(c.node.outputs.size());
    BufferPool pool;
    StepContext context(given, out.outputs, pool);
    if (lowered.offersUnrounded)
        context.askUnrounded(&out.unrounded);
    QS_CHECK(lowered.run(context));
    return out;
}

} // namespace qs::test
