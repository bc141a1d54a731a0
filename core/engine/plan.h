// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/lowering.h"
#include "core/ops/infer.h"

#include <memory>
#include <optional>
#include <vector>

namespace qs {

struct PlanOptions {
    KernelMode mode = KernelMode::Fast;
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
        std::optional<LoweredNode> lowered; ///< empty: folded to a constant, or cannot run
        bool folded = false;
        std::optional<Issue> blocked; ///< why it cannot run (its own reason or "depends on node ...")
        bool ownReason = false; ///< blocked by itself, not by what it depends on
    };
    const Model& model() const { return *m_model; }
    const Graph& graph() const { return m_model->graph; }
    const Step& step(NodeId id) const { return m_steps[id.index()]; }
    /// The unit whose last node this is; null when there is none.
    const FusedUnit* unit(NodeId last) const;
    /// Inside a unit that is always fused: there is nothing to see.
    bool hidden(ValueId id) const { return m_hidden[id.index()]; }
    /// Constant value: initializer, Constant node, or folded; null when it depends on data.
    const Tensor* constant(ValueId id) const;
    const InferredFacts& facts() const { return m_facts; }
    /// Reason why a value cannot be computed; null when it can.
    const Issue* blocked(ValueId id) const;
    /// Nodes that cannot run by themselves, in node order.
    std::vector<std::pair<NodeId, Issue>> unsupported() const;

private:
    void addUnit(FusedUnit unit);
    void addNode(NodeId id, const PlanOptions& options, BufferPool& pool);
    bool fold(NodeId id, Step& step, BufferPool& pool);
    std::shared_ptr<const Model> m_model;
    InferredFacts m_facts;
    std::vector<Step> m_steps;
    std::map<NodeId, FusedUnit> m_units; ///< by last node
    std::vector<bool> m_hidden; ///< by value
    std::vector<std::optional<Tensor>> m_constants; ///< folded ones, by ValueId
};

} // namespace qs
