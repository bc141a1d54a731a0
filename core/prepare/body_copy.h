// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/draft.h"
#include "core/graph/renamed_graph.h"

#include <optional>
#include <unordered_set>

namespace qs {

/// Names of values and nodes that are still free in a draft.
class FreeNames {
public:
    explicit FreeNames(const GraphDraft& draft);
    /// `wanted` or, where that is taken, the same with a number behind it. It is taken from then on. Names inside
    /// bodies count as taken, but not for a value that comes out of one and keeps its name (`moved`).
    std::string value(const std::string& wanted, bool moved = false);
    std::string node(const std::string& wanted);

private:
    std::unordered_set<std::string> m_values, m_inBodies, m_nodes;
};

/// Where copies of a subgraph's nodes go, and what they are called there.
struct BodyTarget {
    GraphDraft& draft; ///< takes the constants and the types
    FreeNames& names;
    std::vector<DraftNode>& nodes; ///< takes the nodes
    DerivationPtr way = {}; ///< how they come out of the subgraph
};

/// How the nodes of its body come out of the node; `iteration`: nothing where it is the same in all.
DerivationPtr wayOutOf(const DraftNode& node, Derivation::Kind kind, std::optional<int64_t> iteration = {});
/// Copies a node of `body` as it is, its values called as `names` says; values that have no entry and that the node
/// makes get `prefix` before their name, and an entry. `prefix` goes before the node's name, too.
Status copyNode(const Graph& body, const Node& node, const std::string& prefix, NewNames& names, BodyTarget& target);
/// Copies what the subgraph stores; entries as above.
void copyConstants(const Graph& body, NewNames& names, BodyTarget& target);

/// Entries for what makes the body's outputs from `first` on, so that it makes values of these names itself ("" = none
/// asked for). What no node of its own makes, or is asked for twice, is passed on by an Identity that finishOutputs()
/// adds.
void nameOutputs(const Graph& body, size_t first, const std::vector<std::string>& wanted, NewNames& names);
void finishOutputs(const Graph& body, size_t first, const std::vector<std::string>& wanted, const std::string& node,
    const NewNames& names, BodyTarget& target);

} // namespace qs
