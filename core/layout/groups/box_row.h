// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/layout/folded_graph.h"
#include "core/layout/groups/name_scopes.h"
#include "core/layout/groups/repeats.h"

namespace qs {

/// The operator of a box, in a body or not; null for inputs, outputs and groups.
const Node* operatorOf(const Graph& graph, const DisplayBox& box);

/// The boxes in this order as findRuns() looks at them. Operators are alike by type, attributes and the sizes of their
/// constants; a model's inputs and outputs are like nothing else.
BoxRow boxRow(const Graph& graph, const FoldedGraph& folded, const DimsLookup& dims, const ScopeTree& tree,
    const std::vector<uint32_t>& order);

} // namespace qs
