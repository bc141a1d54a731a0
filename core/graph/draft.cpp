// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/draft.h"

#include <algorithm>

namespace qs {

std::vector<std::string> outerNames(const Graph& body)
{
    std::unordered_set<std::string> names;
    const auto read = [&](ValueId id) {
        if (id.valid() && !body.value(id).initializer && !body.value(id).producer.valid() && !body.isInput(id))
            names.insert(body.value(id).name);
    };
    for (const Node& node : body.nodes()) {
        std::ranges::for_each(node.inputs, read);
        std::ranges::for_each(node.captures, read);
    }
    std::ranges::for_each(body.outputs(), read);
    std::vector<std::string> sorted(names.begin(), names.end());
    std::ranges::sort(sorted);
    return sorted;
}

std::vector<std::shared_ptr<const Graph>> subgraphs(const Attributes& attributes)
{
    std::vector<std::shared_ptr<const Graph>> all;
    for (const auto& [name, value] : attributes.all()) {
        if (const auto* one = std::get_if<std::shared_ptr<const Graph>>(&value))
            all.push_back(*one);
        else if (const auto* list = std::get_if<std::vector<std::shared_ptr<const Graph>>>(&value))
            all.insert(all.end(), list->begin(), list->end());
    }
    return all;
}

Status replaceSubgraphs(DraftNode& node, const BodyFn& made)
{
    const auto replaced = [&](const std::shared_ptr<const Graph>& body) -> Result<std::shared_ptr<const Graph>> {
        QS_TRY(auto other, made(body));
        node.attributesChanged |= other != body;
        return other;
    };
    const Attributes before = node.attributes;
    for (const auto& [name, value] : before.all()) {
        if (const auto* one = std::get_if<std::shared_ptr<const Graph>>(&value); one && *one) {
            QS_TRY(auto body, replaced(*one));
            node.attributes.set(name, std::move(body));
        } else if (const auto* list = std::get_if<std::vector<std::shared_ptr<const Graph>>>(&value)) {
            std::vector<std::shared_ptr<const Graph>> bodies;
            for (const auto& each : *list) {
                QS_TRY(auto body, replaced(each));
                bodies.push_back(std::move(body));
            }
            node.attributes.set(name, std::move(bodies));
        }
    }
    return {};
}

GraphDraft::GraphDraft(std::shared_ptr<const Model> source)
    : opsets(source->opsetImports)
    , producer(source->producer)
    , metadata(source->metadata)
    , m_source(std::move(source))
{
    const Graph& graph = m_source->graph;
    const auto nameOf = [&](ValueId id) { return id.valid() ? graph.value(id).name : std::string(); };
    for (size_t n = 0; n < graph.nodes().size(); ++n) {
        const Node& node = graph.nodes()[n];
        DraftNode draft { NodeId(n), node.name, node.opType, node.domain, {}, {}, node.attributes };
        draft.cameFrom = node.cameFrom;
        for (ValueId in : node.inputs)
            draft.inputs.push_back(nameOf(in));
        for (ValueId out : node.outputs)
            draft.outputs.push_back(nameOf(out));
        for (ValueId captured : node.captures)
            m_captured.insert(nameOf(captured));
        nodes.push_back(std::move(draft));
    }
    for (const Value& value : graph.values())
        if (value.initializer)
            setConstant(value.name, *value.initializer);
    m_changed.clear();
    for (ValueId id : graph.inputs()) {
        m_inputs.insert(nameOf(id));
        m_inputOrder.push_back(nameOf(id));
    }
    for (ValueId id : graph.outputs()) {
        m_outputs.insert(nameOf(id));
        m_outputOrder.push_back(nameOf(id));
    }
}

const Tensor* GraphDraft::constant(const std::string& name) const
{
    const auto it = m_constants.find(name);
    return it == m_constants.end() ? nullptr : &it->second;
}

void GraphDraft::setConstant(const std::string& name, Tensor tensor)
{
    m_changed.insert(name);
    if (m_constants.insert_or_assign(name, std::move(tensor)).second)
        m_order.push_back(name);
}

void GraphDraft::removeConstant(const std::string& name)
{
    if (m_constants.erase(name) != 0)
        std::erase(m_order, name);
}

std::vector<std::string> GraphDraft::captures(const DraftNode& node) const
{
    std::vector<std::string> names;
    if (node.origin.valid() && !node.attributesChanged) {
        for (ValueId captured : m_source->graph.node(node.origin).captures)
            names.push_back(m_source->graph.value(captured).name);
        return names;
    }
    for (const auto& body : subgraphs(node.attributes))
        for (std::string& name : outerNames(*body))
            if (std::ranges::find(names, name) == names.end())
                names.push_back(std::move(name));
    return names;
}

void GraphDraft::noteCaptures()
{
    m_captured.clear();
    for (const DraftNode& node : nodes)
        for (std::string& name : captures(node))
            m_captured.insert(std::move(name));
}

void GraphDraft::dropUnusedConstants()
{
    std::unordered_set<std::string> read(m_outputOrder.begin(), m_outputOrder.end());
    for (const DraftNode& node : nodes) {
        read.insert(node.inputs.begin(), node.inputs.end());
        for (std::string& name : captures(node))
            read.insert(std::move(name));
    }
    std::erase_if(m_order, [&](const std::string& name) {
        const bool unused = !read.contains(name);
        if (unused)
            m_constants.erase(name);
        return unused;
    });
}

/// What a graph around this one may provide.
void GraphDraft::allowOuterValues(GraphBuilder& builder) const
{
    const std::vector<std::string> outer = outerNames(m_source->graph);
    if (outer.empty())
        return;
    std::ranges::for_each(outer, [&](const std::string& name) { builder.allowOuter(name); });
    std::unordered_set<std::string> made;
    for (const DraftNode& draft : nodes)
        made.insert(draft.outputs.begin(), draft.outputs.end());
    // A subgraph may come to read other values around it, constants that took the place of others.
    for (const DraftNode& draft : nodes)
        for (const std::string& in : draft.inputs)
            if (!in.empty() && !m_constants.contains(in) && !made.contains(in) && !m_inputs.contains(in))
                builder.allowOuter(in);
}

Node GraphDraft::builtNode(const DraftNode& draft, GraphBuilder& builder) const
{
    const Graph& old = m_source->graph;
    Node node;
    node.name = draft.name;
    if (node.name.empty() && !draft.outputs.empty())
        node.name = draft.outputs.front();
    node.opType = draft.opType;
    node.domain = draft.domain;
    const auto opset = opsets.find(draft.domain);
    node.opset = opset == opsets.end() ? 0 : static_cast<int>(opset->second);
    node.attributes = draft.attributes;
    for (const std::string& in : draft.inputs)
        node.inputs.push_back(builder.value(in));
    for (const std::string& out : draft.outputs) {
        const ValueId id = builder.value(out);
        node.outputs.push_back(id);
        const auto declared = types.find(out);
        const ValueId known = old.findValue(out);
        if (id.valid() && declared != types.end())
            builder.setType(id, declared->second);
        else if (id.valid() && known.valid())
            builder.setType(id, old.value(known).type);
    }
    node.cameFrom = draft.cameFrom || !draft.namedAfter.valid() ? draft.cameFrom : old.node(draft.namedAfter).cameFrom;
    for (const std::string& captured : captures(draft))
        node.captures.push_back(builder.value(captured));
    return node;
}

Result<std::shared_ptr<const Model>> GraphDraft::build() const
{
    const Graph& old = m_source->graph;
    GraphBuilder builder(old.name());
    allowOuterValues(builder);
    for (const std::string& name : m_inputOrder) {
        const ValueId id = builder.value(name);
        const auto declared = types.find(name);
        builder.setType(id, declared == types.end() ? old.value(old.findValue(name)).type : declared->second);
        builder.addInput(id);
    }
    for (const std::string& name : m_order)
        builder.setInitializer(builder.value(name), m_constants.at(name));
    for (const DraftNode& draft : nodes)
        builder.addNode(builtNode(draft, builder));
    for (const std::string& name : m_outputOrder)
        builder.addOutput(builder.value(name));
    QS_TRY(Graph graph, std::move(builder).finish());
    auto model = std::make_shared<Model>();
    model->path = m_source->path;
    model->irVersion = m_source->irVersion;
    model->graph = std::move(graph);
    model->producer = producer;
    model->opsetImports = opsets;
    model->metadata = metadata;
    model->fileNodes = nodes.size();
    model->valueNotes = m_source->valueNotes;
    return std::shared_ptr<const Model>(std::move(model));
}

GraphDraft draftOfBody(const GraphDraft& outer, const Graph& body)
{
    auto source = std::make_shared<Model>();
    source->path = outer.source().path;
    source->irVersion = outer.source().irVersion;
    source->graph = body;
    source->opsetImports = outer.opsets;
    return GraphDraft(std::move(source));
}

} // namespace qs
