// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/plan/plan.h"

#include "core/engine/fuse/fuse.h"
#include "core/engine/lowered/lower_graph.h"
#include "core/engine/plan/value_keys.h"

namespace qs {

namespace {

std::shared_ptr<const Plan> makePlan(std::shared_ptr<const Model> model, std::shared_ptr<const Graph> graph,
    const OuterValues& outer, const PlanOptions& options)
{
    const auto makeSubPlan = [&](std::shared_ptr<const Graph> body, const OuterValues& around) {
        return makePlan(model, std::move(body), around, options);
    };
    auto [lowered, constantKeys] = lowerGraph(model, std::move(graph), outer, options, makeSubPlan);
    std::vector<FusedUnit> units = fuseUnits(lowered, options);
    std::vector<std::optional<Hash128>> keys;
    if (options.cache)
        keys = valueKeys(lowered, units, std::move(constantKeys), options);
    return std::make_shared<const Plan>(std::move(lowered), std::move(units), std::move(keys));
}

} // namespace

std::shared_ptr<const Plan> Plan::make(std::shared_ptr<const Model> model, const PlanOptions& options)
{
    const std::shared_ptr<const Graph> graph(model, &model->graph);
    return makePlan(std::move(model), graph, {}, options);
}

Plan::Plan(LoweredGraph lowered, std::vector<FusedUnit> units, std::vector<std::optional<Hash128>> keys)
    : LoweredGraph(std::move(lowered))
    , m_hidden(graph().values().size(), false)
    , m_keys(std::move(keys))
{
    for (FusedUnit& unit : units) {
        if (unit.when == FusedUnit::When::Always)
            for (ValueId id : unit.inner)
                m_hidden[id.index()] = true;
        const NodeId last = unit.nodes.back();
        m_units.insert_or_assign(last, std::move(unit));
    }
}

const FusedUnit* Plan::unit(NodeId last) const
{
    const auto it = m_units.find(last);
    return it == m_units.end() ? nullptr : &it->second;
}

const Hash128* Plan::key(ValueId id) const
{
    return m_keys.empty() || !m_keys[id.index()] ? nullptr : &*m_keys[id.index()];
}

} // namespace qs
