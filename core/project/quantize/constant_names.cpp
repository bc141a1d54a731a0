// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/quantize/constant_names.h"

#include "core/qdq/qlinear_signature.h"

#include <algorithm>
#include <set>

namespace qs {

namespace {

class ConstantNames {
public:
    ConstantNames(const QuantizedFile& file, const GraphDraft& draft)
        : m_file(file)
        , m_graph(file.model->graph)
        , m_draft(draft)
    {
        for (const auto& [name, tensor] : file.tensors)
            if (tensor.constant && !tensor.codesName.empty())
                m_stems.emplace(tensor.codesName, name);
        for (const DraftNode& node : draft.nodes) {
            m_made.insert(node.outputs.begin(), node.outputs.end());
            for (const std::string& name : draft.captures(node))
                m_fixed.insert(name);
        }
    }

    /// By the name in the draft: that in the file.
    std::map<std::string, std::string> find()
    {
        for (const DraftNode& node : m_draft.nodes) {
            const Node* there = partnerOf(node);
            if (!there)
                continue;
            for (size_t slot = 1; slot < node.inputs.size(); ++slot)
                if (const std::string& own = node.inputs[slot]; m_draft.constant(own) && !m_fixed.contains(own))
                    add(own, nameThere(*there, slot));
        }
        std::set<std::string> taken;
        std::erase_if(m_found, [&](const auto& names) { return !taken.insert(names.second).second; });
        for (const std::string& name : m_unclear)
            m_found.erase(name);
        return std::move(m_found);
    }

private:
    /// By what it makes; by its name where a Relu behind it was left to the quantizer. Null: none.
    const Node* partnerOf(const DraftNode& node) const
    {
        constexpr const char* kOnCodes = "_quant";
        const auto fits = [&](const Node* there) { return there && floatOpType(*there) == node.opType; };
        if (const Node* there = node.outputs.empty() ? nullptr : m_file.producer(node.outputs[0]); fits(there))
            return there;
        for (const std::string& name : { node.name, node.name + kOnCodes })
            if (const auto at = m_file.nodes.find(name); at != m_file.nodes.end())
                if (const Node* there = &m_graph.node(at->second); fits(there))
                    return there;
        return nullptr;
    }

    void add(const std::string& own, const std::string& there)
    {
        if (there.empty() || there == own || m_file.find(own) || m_graph.findValue(own).valid()
            || m_draft.constant(there) || m_made.contains(there))
            return;
        if (const auto [known, isNew] = m_found.emplace(own, there); !isNew && known->second != there)
            m_unclear.insert(own);
    }

    /// Of the constant that a node of the file reads in place of the float operator's input; empty: none.
    std::string nameThere(const Node& node, size_t slot) const
    {
        auto at = int(slot);
        if (const auto signature = qlinearSignature(node))
            at = slot < signature->inputs.size() ? signature->inputs[slot].codes : slot == 2 ? signature->bias : -1;
        if (at < 0 || !node.hasInput(size_t(at)))
            return {};
        ValueId value = node.inputs[size_t(at)];
        if (const NodeId by = m_graph.value(value).producer;
            by.valid() && isDequantizeLinear(m_graph.node(by)) && m_graph.node(by).hasInput(0))
            value = m_graph.node(by).inputs[0];
        const std::string& name = m_graph.value(value).name;
        const auto stem = m_stems.find(name);
        return stem != m_stems.end() ? stem->second : m_graph.value(value).initializer ? name : std::string();
    }

    const QuantizedFile& m_file;
    const Graph& m_graph;
    const GraphDraft& m_draft;
    std::map<std::string, std::string> m_stems; ///< float names by names of codes
    std::set<std::string> m_made, m_fixed; ///< by nodes; read by graphs inside nodes
    std::map<std::string, std::string> m_found;
    std::set<std::string> m_unclear; ///< called otherwise by several nodes
};

template <class Value> void rename(std::map<std::string, Value>& entries, const std::map<std::string, std::string>& own)
{
    for (const auto& [there, name] : own)
        if (auto entry = entries.extract(there); !entry.empty()) {
            entry.key() = name;
            entries.insert(std::move(entry));
        }
}

} // namespace

std::optional<ConstantsNamedAsIn> constantsNamedAsIn(const QuantizedFile& file, const GraphDraft& floatModel)
{
    const std::map<std::string, std::string> names = ConstantNames(file, floatModel).find();
    if (names.empty())
        return std::nullopt;
    ConstantsNamedAsIn named { floatModel, {} };
    for (const auto& [own, there] : names) {
        Tensor constant = *named.draft.constant(own);
        named.draft.removeConstant(own);
        named.draft.setConstant(there, std::move(constant));
        named.own.emplace(there, own);
    }
    for (DraftNode& node : named.draft.nodes)
        for (std::string& input : node.inputs)
            if (const auto name = names.find(input); name != names.end())
                input = name->second;
    return named;
}

Recipe inOwnNames(Recipe recipe, const std::map<std::string, std::string>& own)
{
    rename(recipe.tensors, own);
    rename(recipe.codes.constants, own);
    for (std::string& name : recipe.placement.tensors)
        if (const auto known = own.find(name); known != own.end())
            name = known->second;
    return recipe;
}

} // namespace qs
