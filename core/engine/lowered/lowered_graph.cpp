// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lowered/lowered_graph.h"

namespace qs {

Issue containerRefused(const Node& node, const std::string& name, DType kind)
{
    return badInput(node.opType + " needs a tensor, but '" + name + "' is a " + std::string(dtypeName(kind)), {},
        "export the model again");
}

bool LoweredGraph::isOuter(ValueId id) const
{
    const Value& value = graph().value(id);
    return !value.producer.valid() && !value.initializer && !graph().isInput(id);
}

std::string LoweredGraph::container(ValueId id) const
{
    const std::string& declared = graph().value(id).type.container;
    const DType type = m_facts.of(id).dtype;
    return declared.empty() && isContainer(type) ? std::string(dtypeName(type)) : declared;
}

const Tensor* LoweredGraph::constant(ValueId id) const
{
    if (!id.valid())
        return nullptr;
    const Value& value = graph().value(id);
    if (value.initializer)
        return &*value.initializer;
    const auto& folded = m_constants[id.index()];
    return folded ? &*folded : nullptr;
}

const Issue* LoweredGraph::blocked(ValueId id) const
{
    const NodeId producer = graph().value(id).producer;
    if (!producer.valid()) {
        const auto outer = m_blockedOuter.find(id);
        return outer == m_blockedOuter.end() ? nullptr : &outer->second;
    }
    const auto& reason = m_steps[producer.index()].blocked;
    return reason ? &*reason : nullptr;
}

std::vector<std::pair<NodeId, Issue>> LoweredGraph::unsupported() const
{
    std::vector<std::pair<NodeId, Issue>> list;
    for (size_t n = 0; n < m_steps.size(); ++n)
        if (m_steps[n].blocked && m_steps[n].ownReason)
            list.emplace_back(NodeId(n), *m_steps[n].blocked);
    return list;
}

} // namespace qs
