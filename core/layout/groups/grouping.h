// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/layout/folded_graph.h"
#include "core/layout/groups/bodies.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace qs {

/// What boxes of a drawing are joined by.
enum class GroupBy {
    Nothing,
    Blocks, ///< repeated blocks
    Names, ///< scopes of names, and repeated blocks within them
};

/// Boxes that can be drawn as one. They follow each other in Grouping::order, so joining any groups of a Grouping
/// never makes a cycle.
struct BoxGroup {
    enum class Kind {
        Scope, ///< boxes whose names share a scope
        Run, ///< equal blocks; its children are these
        Block, ///< one of them, or one beside them that only names count among them
        Body, ///< an If, Loop or Scan with its bodies, or one of these
    };
    Kind kind = Kind::Scope;
    std::string key; ///< the same for the same group of another version of the graph
    std::string title; ///< "encoder/layer", "12 × layer", "layer/3"
    uint32_t first = 0, end = 0; ///< places in the order
    uint32_t blocks = 0; ///< of a Run
    uint32_t parent = kNone; ///< the group around it
    static constexpr uint32_t kNone = UINT32_MAX;
};

/// Groups within groups, outer ones first.
struct Grouping {
    std::vector<uint32_t> order; ///< boxes in a topological order
    std::vector<BoxGroup> groups;
    std::vector<uint32_t> innermost; ///< group by box; kNone where there is none

    std::vector<uint32_t> around(uint32_t box) const; ///< groups that hold a box, innermost first
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
