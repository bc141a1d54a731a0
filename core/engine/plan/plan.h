// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/fuse/fused_unit.h"
#include "core/engine/lowered/lowered_graph.h"
#include "core/engine/lowered/plan_options.h"

#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace qs {

/// How a graph is executed: a lowered step for each node, constants folded, and the units that run as one kernel.
/// Immutable; shared by all workers.
class Plan : public LoweredGraph {
public:
    /// Never fails: what cannot run is said in unsupported().
    static std::shared_ptr<const Plan> make(std::shared_ptr<const Model> model, const PlanOptions& options = {});

    /// `keys`: one a value, or none.
    Plan(LoweredGraph lowered, std::vector<FusedUnit> units, std::vector<std::optional<Hash128>> keys);

    /// The unit whose last node this is; null when there is none.
    const FusedUnit* unit(NodeId last) const;
    /// Inside a unit that is always fused: there is nothing to see.
    bool hidden(ValueId id) const { return m_hidden[id.index()]; }
    /// Equal keys in two plans: equal bits from equal graph inputs. Null where that cannot be known (random numbers,
    /// subgraphs and what depends on them; plans without a cache).
    const Hash128* key(ValueId id) const;

private:
    std::map<NodeId, FusedUnit> m_units; ///< by last node
    std::vector<bool> m_hidden; ///< by value
    std::vector<std::optional<Hash128>> m_keys; ///< by value; empty without a cache
};

} // namespace qs
