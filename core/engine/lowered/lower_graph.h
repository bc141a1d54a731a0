// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/lowered/lowered_graph.h"
#include "core/engine/lowered/plan_options.h"

#include <functional>

namespace qs {

/// What a subgraph knows of the values that it reads from the graph around it, by name.
struct OuterValues {
    struct Value {
        const Tensor* constant = nullptr; ///< null when it depends on data
        const Issue* blocked = nullptr; ///< why it cannot be computed
    };
    OuterFacts facts;
    std::map<std::string, Value> values;
};

/// Makes the plan of a subgraph.
using MakeSubPlanFn
    = std::function<std::shared_ptr<const Plan>(std::shared_ptr<const Graph> graph, const OuterValues& outer)>;

struct GraphLoweringResult {
    LoweredGraph lowered;
    std::vector<std::optional<Hash128>> constantKeys; ///< of constants met on the way, by value; empty without a cache
};

/// Never fails: what cannot run is said in LoweredGraph::unsupported().
GraphLoweringResult lowerGraph(std::shared_ptr<const Model> model, std::shared_ptr<const Graph> graph,
    const OuterValues& outer, const PlanOptions& options, const MakeSubPlanFn& makeSubPlan);

/// Key of a value by what `keys` (one a value) knows. Constants' keys follow from their elements, which are looked at
/// once.
const std::optional<Hash128>& keyOf(const LoweredGraph& lowered, ValueId id, std::vector<std::optional<Hash128>>& keys);

} // namespace qs
