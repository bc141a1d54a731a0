// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/layout/folded_graph.h"

#include <string>
#include <vector>

namespace qs {

/// The boxes of one body of an If, Loop or Scan, behind all boxes of the graph that it lies in.
struct DrawnBody {
    uint32_t owner = 0; ///< box of the node that has the body
    std::string name; ///< "then_branch", "body"
    uint32_t first = 0, end = 0; ///< its boxes
};

/// Adds the boxes and edges of all bodies, those within bodies as well, to a drawing of `graph`; each body's first
/// boxes read from its node's box, and those that read values of the graphs around it from the boxes that make them.
/// Boxes of bodies have no nodes and values, whose ids would be those of another graph: DisplayBox::inner tells them.
/// Outer bodies come first, and a body's own before those of its nodes.
std::vector<DrawnBody> addBodies(const Graph& graph, FoldMode mode, FoldedGraph& folded);
/// By box: itself, or the box of the main graph whose body it lies in.
std::vector<uint32_t> outermostOwners(size_t boxes, const std::vector<DrawnBody>& bodies);

} // namespace qs
