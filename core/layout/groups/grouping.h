// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/layout/folded_graph.h"
#include "core/layout/groups/bodies.h"
#include "core/layout/groups/box_groups.h"

#include <functional>
#include <vector>

namespace qs {

/// What boxes of a drawing are joined by.
enum class GroupBy {
    Nothing,
    Blocks, ///< repeated blocks
    Names, ///< scopes of names, and repeated blocks within them
};

/// `dims`: sizes of the constants, which tell blocks apart. `bodies`: what addBodies() added to the drawing; they are
/// groups whatever else is.
Grouping groupBoxes(const Graph& graph, const FoldedGraph& folded, const DimsLookup& dims, GroupBy by,
    const std::vector<DrawnBody>& bodies = {});

using IsClosed = std::function<bool(uint32_t group)>;

/// The drawing with the closed groups as one box each, and the open ones as frames. Boxes and edges come in the order
/// of the grouping; every box says which ones of `whole` it stands for.
FoldedGraph joinGroups(const FoldedGraph& whole, const Grouping& grouping, const IsClosed& closed);

} // namespace qs
