// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/inner_place.h"

namespace qs {

namespace {

const Graph* bodyOf(const Node& node, const std::string& name)
{
    for (const auto& [attribute, value] : node.attributes.all())
        if (const auto* body = std::get_if<std::shared_ptr<const Graph>>(&value); body && attribute == name)
            return body->get();
    return nullptr;
}

const Node* nodeOf(const Graph& graph, NodeId id)
{
    return id.valid() && id.index() < graph.nodes().size() ? &graph.node(id) : nullptr;
}

} // namespace

std::optional<InnerNode> innerNode(const Graph& graph, const InnerPlace& place)
{
    InnerNode found { &graph, nodeOf(graph, place.owner) };
    for (const InnerPlace::Step& step : place.steps) {
        found.graph = found.node ? bodyOf(*found.node, step.body) : nullptr;
        found.node = found.graph ? nodeOf(*found.graph, step.node) : nullptr;
    }
    return found.node && place.valid() ? std::optional(found) : std::nullopt;
}

std::string innerName(const Graph& graph, const InnerPlace& place)
{
    if (!innerNode(graph, place))
        return {};
    std::string name = graph.node(place.owner).name;
    InnerPlace way { place.owner, {} };
    for (const InnerPlace::Step& step : place.steps) {
        way.steps.push_back(step);
        name += "/" + step.body + "/" + innerNode(graph, way)->node->name;
    }
    return name;
}

} // namespace qs
