// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace qs {

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

} // namespace qs
