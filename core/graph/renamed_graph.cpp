// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/renamed_graph.h"

#include "core/graph/draft.h"

#include <algorithm>

namespace qs {

namespace {

bool isOuter(const Graph& body, ValueId id)
{
    const Value& value = body.value(id);
    return !value.initializer && !value.producer.valid() && !body.isInput(id);
}

Result<Graph> rebuilt(const Graph& body, const NewNames& names)
{
    GraphBuilder builder(body.name());
    std::vector<ValueId> ids;
    for (size_t v = 0; v < body.values().size(); ++v) {
        const Value& value = body.values()[v];
        const bool outer = isOuter(body, ValueId(v));
        const std::string& name = outer ? newName(names, value.name) : value.name;
        ids.push_back(builder.value(name));
        builder.setType(ids.back(), value.type);
        if (value.initializer)
            builder.setInitializer(ids.back(), *value.initializer);
        if (outer)
            builder.allowOuter(name);
    }
    const auto mapped = [&](std::vector<ValueId>& list) {
        for (ValueId& id : list)
            id = id.valid() ? ids[id.index()] : id;
    };
    for (ValueId id : body.inputs())
        builder.addInput(ids[id.index()]);
    for (Node node : body.nodes()) {
        for (auto* list : { &node.inputs, &node.outputs, &node.captures })
            mapped(*list);
        QS_CHECK(renameOuter(node.attributes, names));
        builder.addNode(std::move(node));
    }
    for (ValueId id : body.outputs())
        builder.addOutput(ids[id.index()]);
    return std::move(builder).finish();
}

} // namespace

const std::string& newName(const NewNames& names, const std::string& old)
{
    const auto it = names.find(old);
    return it == names.end() ? old : it->second;
}

Result<std::shared_ptr<const Graph>> withOuterRenamed(const std::shared_ptr<const Graph>& body, const NewNames& names)
{
    const auto outer = outerNames(*body);
    if (std::ranges::none_of(outer, [&](const std::string& name) { return names.contains(name); }))
        return body;
    QS_TRY(Graph graph, rebuilt(*body, names));
    return std::shared_ptr<const Graph>(std::make_shared<Graph>(std::move(graph)));
}

Status renameOuter(Attributes& attributes, const NewNames& names)
{
    if (subgraphs(attributes).empty())
        return {};
    DraftNode holder;
    holder.attributes = std::move(attributes);
    QS_CHECK(replaceSubgraphs(
        holder, [&](const std::shared_ptr<const Graph>& body) { return withOuterRenamed(body, names); }));
    attributes = std::move(holder.attributes);
    return {};
}

} // namespace qs
