// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/profile.h"
#include "core/engine/plan/lowering_cache.h"
#include "core/ops/infer.h"

#include <memory>
#include <optional>
#include <vector>

namespace qs {

struct PlanOptions {
    KernelMode mode = KernelMode::Fast;
    ArithmeticProfile profile = ArithmeticProfile::Simulated;
    /// Plans made with the same one share lowered nodes and know the keys of their values; null: neither.
    std::shared_ptr<LoweringCache> cache = {};
};

/// Several nodes run as one kernel; the values between them are not made.
struct FusedUnit {
    enum class When {
        Always, ///< the arithmetic profile says so: the inner values do not exist, whoever asks
        Unobserved, ///< equal bits, only faster: not when somebody asks for an inner value
    };
    When when = When::Unobserved;
    NodeId node; ///< names the unit to people
    std::vector<NodeId> nodes; ///< in node order; the last one makes the outputs
    std::vector<ValueId> inputs; ///< in the order that `lowered` expects; invalid = absent
    std::vector<ValueId> inner; ///< made and read by these nodes alone
    LoweredNode lowered;
};

/// How a graph is executed: a lowered step for each node, constants folded, and for each value the last node that
/// reads it. Immutable; shared by all workers. A node that cannot run (and what depends on it) keeps its reason.
class Plan {
public:
    /// Never fails: what cannot run is said in unsupported().
    static std::shared_ptr<const Plan> make(std::shared_ptr<const Model> model, const PlanOptions& options = {});

    struct Step {
        std::shared_ptr<const LoweredNode> lowered; ///< null: cannot run
        bool folded = false; ///< to a constant
        std::shared_ptr<const FoldedNode> shared; ///< what it was folded to, when plans share it
        std::optional<Issue> blocked; ///< why it cannot run (its own reason or "depends on node ...")
        bool ownReason = false; ///< blocked by itself, not by what it depends on
        std::vector<ValueId> captures; ///< as Node::captures, invalid where the step does not read the value
        std::vector<std::shared_ptr<const Plan>> subPlans; ///< of the node's subgraphs, whether they can run or not
    };
    /// The file; for the plan of a subgraph, too.
    const Model& model() const { return *m_model; }
    /// The main graph, or the subgraph.
    const Graph& graph() const { return *m_graph; }
    const Step& step(NodeId id) const { return m_steps[id.index()]; }
    /// The unit whose last node this is; null when there is none.
    const FusedUnit* unit(NodeId last) const;
    /// Inside a unit that is always fused: there is nothing to see.
    bool hidden(ValueId id) const { return m_hidden[id.index()]; }
    /// Constant value: initializer, Constant node, or folded; null when it depends on data.
    const Tensor* constant(ValueId id) const;
    const InferredFacts& facts() const { return m_facts; }
    /// "sequence", "map", "optional" ... where a value is no tensor, as far as the file and inference say; else empty.
    std::string container(ValueId id) const;
    /// Equal keys in two plans: equal bits from equal graph inputs. Null where that cannot be known (random numbers,
    /// subgraphs and what depends on them; plans without a cache).
    const Hash128* key(ValueId id) const;
    /// Made by no part of this graph: a subgraph reads it from the graph around it.
    bool isOuter(ValueId id) const;
    /// Reason why a value cannot be computed; null when it can.
    const Issue* blocked(ValueId id) const;
    /// Nodes that cannot run by themselves, in node order; those in subgraphs are in their subPlans.
    std::vector<std::pair<NodeId, Issue>> unsupported() const;

private:
    /// A value that a subgraph reads from the graph around it.
    struct OuterValue {
        const Tensor* constant = nullptr; ///< null when it depends on data
        const Issue* blocked = nullptr; ///< why it cannot be computed
    };
    static std::shared_ptr<Plan> make(std::shared_ptr<const Model> model, std::shared_ptr<const Graph> graph,
        const OuterFacts& facts, const std::map<std::string, OuterValue>& outer, const PlanOptions& options);
    std::shared_ptr<const Plan> subPlan(const Node& node, std::shared_ptr<const Graph> graph,
        std::span<const Fact> inputs, const PlanOptions& options) const;
    Result<std::shared_ptr<const LoweredNode>> lower(const Node& node, Step& step, const PlanOptions& options);
    const std::optional<Hash128>& keyOf(ValueId id);
    void makeKeys(const PlanOptions& options);
    void addUnit(FusedUnit unit);
    void addNode(NodeId id, const PlanOptions& options, BufferPool& pool);
    bool fold(NodeId id, Step& step, const PlanOptions& options, BufferPool& pool);
    std::optional<Hash128> foldedKey(const Node& node, const PlanOptions& options);
    bool takeFolded(const Node& node, const FoldedNode& folded);
    std::shared_ptr<const Model> m_model;
    std::shared_ptr<const Graph> m_graph;
    InferredFacts m_facts;
    int64_t m_channelBlock = 0; ///< see LowerContext
    std::vector<Step> m_steps;
    std::map<NodeId, FusedUnit> m_units; ///< by last node
    std::vector<bool> m_hidden; ///< by value
    std::vector<std::optional<Hash128>> m_keys; ///< by value; empty without a cache
    std::vector<std::optional<Tensor>> m_constants; ///< folded ones and those of the graph around, by ValueId
    std::map<ValueId, Issue> m_blockedOuter; ///< values of the graph around that cannot be computed
};

/// Value `name` is no tensor, and the node's operator takes nothing else.
Issue containerRefused(const Node& node, const std::string& name, DType kind);

} // namespace qs
