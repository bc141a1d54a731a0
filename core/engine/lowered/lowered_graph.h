// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/lowered/lowering_cache.h"
#include "core/ops/infer.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace qs {

class Plan;

/// A graph with a lowered step for each node and constants folded. A node that cannot run (and what depends on it)
/// keeps its reason. Made by lowerGraph().
class LoweredGraph {
public:
    struct Step {
        std::shared_ptr<const LoweredNode> lowered; ///< null: cannot run
        bool folded = false; ///< to a constant
        std::shared_ptr<const FoldedNode> shared; ///< what it was folded to, when plans share it
        std::optional<Issue> blocked; ///< why it cannot run (its own reason or "depends on node ...")
        bool ownReason = false; ///< blocked by itself, not by what it depends on
        std::vector<ValueId> captures; ///< as Node::captures, invalid where the step does not read the value
        std::vector<std::shared_ptr<const Plan>> subPlans; ///< of the node's subgraphs, whether they can run or not
    };
    /// The file; for a subgraph, too.
    const Model& model() const { return *m_model; }
    /// The main graph, or the subgraph.
    const Graph& graph() const { return *m_graph; }
    const Step& step(NodeId id) const { return m_steps[id.index()]; }
    /// Constant value: initializer, Constant node, or folded; null when it depends on data.
    const Tensor* constant(ValueId id) const;
    const InferredFacts& facts() const { return m_facts; }
    /// "sequence", "map", "optional" ... where a value is no tensor, as far as the file and inference say; else empty.
    std::string container(ValueId id) const;
    /// Made by no part of this graph: a subgraph reads it from the graph around it.
    bool isOuter(ValueId id) const;
    /// Reason why a value cannot be computed; null when it can.
    const Issue* blocked(ValueId id) const;
    /// The first constant that folding would have made beyond PlanOptions::memoryLimit; null when there is none.
    const Issue* overLimit() const { return m_overLimit ? &*m_overLimit : nullptr; }
    /// Nodes that cannot run by themselves, in node order; those in subgraphs are in their subPlans.
    std::vector<std::pair<NodeId, Issue>> unsupported() const;

private:
    friend class GraphLowering;
    std::shared_ptr<const Model> m_model;
    std::shared_ptr<const Graph> m_graph;
    InferredFacts m_facts;
    std::vector<Step> m_steps;
    std::vector<std::optional<Tensor>> m_constants; ///< folded ones and those of the graph around, by ValueId
    std::optional<Issue> m_overLimit;
    std::map<ValueId, Issue> m_blockedOuter; ///< values of the graph around that cannot be computed
};

/// Value `name` is no tensor, and the node's operator takes nothing else.
Issue containerRefused(const Node& node, const std::string& name, DType kind);

} // namespace qs
