// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/snapshot/snapshot.h"
#include "core/quant/recipe/recipe_state.h"

#include <QString>

#include <span>
#include <string>
#include <vector>

namespace qs {

/// Which nodes of a float model are quantized or left in float together, because one box of the quantized graph stands
/// for them: a node and the Relu or Clip behind it whose work its quantizer does.
class NodeUnits {
public:
    NodeUnits() = default; ///< of no nodes
    /// `heads`: for each node the first of its unit, itself where it stands alone.
    explicit NodeUnits(const std::vector<size_t>& heads);

    /// The nodes of the unit that this node belongs to, itself among them; in file order.
    const std::vector<size_t>& of(size_t node) const { return m_units[m_unitOf[node]]; }
    /// These nodes and all that belong to them; ascending, each once.
    std::vector<size_t> whole(std::span<const size_t> nodes) const;
    bool operator==(const NodeUnits&) const = default;

private:
    std::vector<std::vector<size_t>> m_units;
    std::vector<size_t> m_unitOf; ///< by node
};

/// A Relu or Clip that alone reads what another node makes; nodes as recipeNodes() counts them.
struct ClipBehind {
    size_t node = 0, clip = 0;
    std::string between, after; ///< what the node makes, and what the clip makes of it
};
std::vector<ClipBehind> clipsBehind(const GraphDraft& draft, std::span<const RecipeNode> nodes);

/// The units of recipeNodes(), as the snapshot's quantized graph has them; nodes that are in float there, and in one
/// state by the recipe, belong together as they would when they are quantized. `clips`: those of the model that the
/// recipe is applied to. `states` has one element a node.
NodeUnits nodeUnits(const Snapshot& snapshot, std::span<const ClipBehind> clips, std::span<const NodeState> states);

/// "Conv_3 + Relu_4"; "Conv_3 and 14 more".
QString unitTitle(std::span<const RecipeNode> nodes, std::span<const size_t> members);

} // namespace qs
