// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/node_origin.h"

#include <algorithm>

namespace qs {

std::string_view Metadata::find(std::string_view key) const
{
    const auto it = std::ranges::find(entries, key, &std::pair<std::string_view, std::string_view>::first);
    return it == entries.end() ? std::string_view() : it->second;
}

namespace {

bool contains(DerivationPtr way, const DerivationPtr& step)
{
    while (way && way != step)
        way = way->outer;
    return way != nullptr;
}

/// `inner`, and `way` where it ends; a call that both are in is told once.
DerivationPtr joined(const DerivationPtr& inner, const DerivationPtr& way)
{
    if (!inner || contains(way, inner))
        return way;
    auto step = std::make_shared<Derivation>(*inner);
    step->outer = joined(inner->outer, way);
    return step;
}

} // namespace

NodeOriginPtr derivedFrom(const NodeOriginPtr& known, const DerivationPtr& way)
{
    auto made = std::make_shared<NodeOrigin>();
    if (known)
        made->metadata = known->metadata;
    made->derivation = joined(known ? known->derivation : nullptr, way);
    return made;
}

NodeOriginPtr fusedOrigin(const std::vector<OriginOf>& nodes, size_t main)
{
    Derivation fused;
    auto made = std::make_shared<NodeOrigin>();
    made->metadata = nodes[main].cameFrom ? nodes[main].cameFrom->metadata : nullptr;
    for (const OriginOf& node : nodes) {
        const DerivationPtr known = node.cameFrom ? node.cameFrom->derivation : nullptr;
        if (known && known->kind == Derivation::Kind::Fused)
            fused.nodes.insert(fused.nodes.end(), known->nodes.begin(), known->nodes.end());
        else
            fused.nodes.push_back({ node.name, node.opType, node.cameFrom ? node.cameFrom->metadata : nullptr });
        if (known)
            fused.outer = known->kind == Derivation::Kind::Fused ? known->outer : known;
    }
    made->derivation = std::make_shared<const Derivation>(std::move(fused));
    return made;
}

} // namespace qs
