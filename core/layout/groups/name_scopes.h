// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/origin/name_scopes.h"
#include "core/layout/folded_graph.h"

#include <string>
#include <vector>

namespace qs {

/// The scopes of all boxes of a drawing, as their nodes' names or else the exporter's metadata tell them, as a tree
/// whose root, 0, is the file itself.
struct ScopeTree {
    struct Scope {
        std::string name;
        uint32_t parent = 0;
        uint32_t depth = 0; ///< 0 for the root
    };
    std::vector<Scope> scopes { {} };
    std::vector<uint32_t> ofBox; ///< innermost scope; model inputs and outputs are in the root

    uint32_t common(uint32_t a, uint32_t b) const; ///< innermost scope around both
    std::string path(uint32_t scope) const; ///< "encoder/layer/3"; "" for the root
};

ScopeTree scopeTree(const Graph& graph, const FoldedGraph& folded);

/// A topological order of the boxes that stays within a scope as long as there is a box left in it that can come
/// next, and otherwise follows the drawing's own order.
std::vector<uint32_t> orderByScopes(const FoldedGraph& folded, const ScopeTree& tree);

} // namespace qs
