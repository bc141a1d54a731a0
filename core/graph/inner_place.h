// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/graph.h"

#include <optional>
#include <string>
#include <vector>

namespace qs {

/// A node in the body of an If, Loop or Scan of a graph, or in a body within one.
struct InnerPlace {
    struct Step {
        std::string body; ///< attribute that holds it: "then_branch"
        NodeId node; ///< of the body
        bool operator==(const Step&) const = default;
    };
    NodeId owner; ///< of the graph itself
    std::vector<Step> steps; ///< outermost body first
    bool valid() const { return owner.valid() && !steps.empty(); }
    bool operator==(const InnerPlace&) const = default;
};

struct InnerNode {
    const Graph* graph; ///< the body that it lies in
    const Node* node;
};
/// Nothing where the graph has no such body or node.
std::optional<InnerNode> innerNode(const Graph& graph, const InnerPlace& place);
/// "loop_1/body/Conv_3": the names on the way; empty where there is no such node.
std::string innerName(const Graph& graph, const InnerPlace& place);

} // namespace qs
