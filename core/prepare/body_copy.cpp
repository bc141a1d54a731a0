// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/prepare/body_copy.h"

#include <algorithm>

namespace qs {

namespace {

void addNames(const Graph& body, std::unordered_set<std::string>& names)
{
    for (const Value& value : body.values())
        names.insert(value.name);
    for (const Node& node : body.nodes())
        for (const auto& inner : subgraphs(node.attributes))
            addNames(*inner, names);
}

} // namespace

FreeNames::FreeNames(const GraphDraft& draft)
{
    for (const auto* list : { &draft.constants(), &draft.inputs(), &draft.outputs() })
        m_values.insert(list->begin(), list->end());
    for (const DraftNode& node : draft.nodes) {
        m_nodes.insert(node.name);
        m_values.insert(node.inputs.begin(), node.inputs.end());
        m_values.insert(node.outputs.begin(), node.outputs.end());
        for (std::string& name : draft.captures(node))
            m_values.insert(std::move(name));
        for (const auto& body : subgraphs(node.attributes))
            addNames(*body, m_inBodies);
    }
}

std::string FreeNames::value(const std::string& wanted, bool moved)
{
    if (moved && m_values.insert(wanted).second)
        return wanted;
    std::string name = wanted;
    for (int number = 1; m_inBodies.contains(name) || !m_values.insert(name).second; ++number)
        name = wanted + "_" + std::to_string(number);
    return name;
}

std::string FreeNames::node(const std::string& wanted)
{
    std::string name = wanted;
    for (int number = 1; !m_nodes.insert(name).second; ++number)
        name = wanted + "_" + std::to_string(number);
    return name;
}

DerivationPtr wayOutOf(const DraftNode& node, Derivation::Kind kind, std::optional<int64_t> iteration)
{
    Derivation way { kind, { { node.name, node.opType, node.cameFrom ? node.cameFrom->metadata : nullptr } }, iteration,
        node.cameFrom ? node.cameFrom->derivation : nullptr };
    return std::make_shared<const Derivation>(std::move(way));
}

void copyConstants(const Graph& body, NewNames& names, BodyTarget& target)
{
    for (const Value& value : body.values())
        if (value.initializer && !names.contains(value.name)) {
            const std::string name = target.names.value(value.name, true);
            names.emplace(value.name, name);
            target.draft.setConstant(name, *value.initializer);
        }
}

Status copyNode(const Graph& body, const Node& node, const std::string& prefix, NewNames& names, BodyTarget& target)
{
    DraftNode copy;
    copy.name = target.names.node(prefix + node.name);
    copy.opType = node.opType;
    copy.domain = node.domain;
    copy.attributes = node.attributes;
    copy.attributesChanged = true;
    copy.cameFrom = target.way ? derivedFrom(node.cameFrom, target.way) : node.cameFrom;
    for (ValueId id : node.inputs)
        copy.inputs.push_back(id.valid() ? newName(names, body.value(id).name) : std::string());
    for (ValueId id : node.outputs) {
        if (!id.valid()) {
            copy.outputs.emplace_back();
            continue;
        }
        const Value& value = body.value(id);
        if (!names.contains(value.name))
            names.emplace(value.name, target.names.value(prefix + value.name, prefix.empty()));
        copy.outputs.push_back(names.at(value.name));
        if (value.type.dtype != DType::Undefined)
            target.draft.types.emplace(copy.outputs.back(), value.type);
    }
    QS_CHECK(renameOuter(copy.attributes, names));
    target.nodes.push_back(std::move(copy));
    return {};
}

void nameOutputs(const Graph& body, size_t first, const std::vector<std::string>& wanted, NewNames& names)
{
    for (size_t i = 0; i < wanted.size() && first + i < body.outputs().size(); ++i) {
        const Value& made = body.value(body.outputs()[first + i]);
        if (!wanted[i].empty() && made.producer.valid())
            names.emplace(made.name, wanted[i]);
    }
}

void finishOutputs(const Graph& body, size_t first, const std::vector<std::string>& wanted, const std::string& node,
    const NewNames& names, BodyTarget& target)
{
    for (size_t i = 0; i < wanted.size() && first + i < body.outputs().size(); ++i) {
        const std::string& made = newName(names, body.value(body.outputs()[first + i]).name);
        if (wanted[i].empty() || made == wanted[i])
            continue;
        target.nodes.push_back({ NodeId(), target.names.node(node + "_output_" + std::to_string(i)), "Identity", "",
            { made }, { wanted[i] }, {} });
        target.nodes.back().cameFrom = derivedFrom(nullptr, target.way);
    }
}

} // namespace qs
