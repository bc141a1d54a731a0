// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/run/subgraph.h"

#include <algorithm>

namespace qs {

namespace {

/// Why an output of the subgraph cannot be computed, as a reason of the node that holds the subgraph.
Issue blockedReason(const Plan& plan, const std::string& attribute, const Issue& cause)
{
    if (plan.unsupported().empty())
        return badInput(cause.what, {}, cause.remedy); // "depends on node ..." of the graph around
    const std::string place = "its " + attribute;
    if (cause.what.starts_with("depends on"))
        return badInput(place + " " + cause.what, {}, cause.remedy);
    return badInput(place + " cannot run: node '" + cause.node + "': " + cause.what, {}, cause.remedy);
}

} // namespace

Result<Subgraph> Subgraph::make(
    const LowerContext& context, const std::string& attribute, std::span<const Fact> inputs, std::vector<bool>& reads)
{
    const auto* graph = context.node.attributes.get<std::shared_ptr<const Graph>>(attribute);
    if (!graph || !*graph || !context.subPlan)
        return badInput("its " + attribute + " is missing", {}, "export the model again");
    const std::shared_ptr<const Plan> plan = context.subPlan(*graph, inputs);
    Demand demand;
    demand.values.assign(plan->graph().outputs().begin(), plan->graph().outputs().end());
    for (ValueId id : demand.values)
        if (const Issue* cause = plan->blocked(id))
            return blockedReason(*plan, attribute, *cause);
    Subgraph s;
    QS_TRY(s.m_schedule, Schedule::make(plan, std::move(demand)));
    reads.resize(context.captureNames.size(), false);
    for (size_t i = 0; i < context.captureNames.size(); ++i) {
        const ValueId inner = plan->graph().findValue(context.captureNames[i]);
        if (!inner.valid() || !plan->isOuter(inner) || plan->constant(inner) || !s.m_schedule->reads(inner))
            continue;
        s.m_captures.push_back({ i, inner });
        reads[i] = true;
    }
    return s;
}

bool Subgraph::isConstant() const
{
    return std::ranges::all_of(graph().outputs(), [&](ValueId id) { return plan().constant(id) != nullptr; });
}

Status Subgraph::checkInput(size_t i, const Tensor& value) const
{
    const ValueId id = graph().inputs()[i];
    const DType wanted = plan().facts().of(id).dtype;
    if (wanted == DType::Undefined || wanted == value.dtype())
        return {};
    return badInput("input '" + graph().value(id).name + "' of its subgraph is " + std::string(dtypeName(wanted))
            + ", but gets " + std::string(dtypeName(value.dtype())),
        {}, "export the model again");
}

Result<std::vector<Tensor>> Subgraph::run(const StepContext& step, std::span<const Tensor> inputs) const
{
    Execution execution(m_schedule, step.pool());
    for (size_t i = 0; i < inputs.size(); ++i)
        if (inputs[i].valid()) {
            QS_CHECK(checkInput(i, inputs[i]));
            execution.set(graph().inputs()[i], inputs[i]);
        }
    for (const Capture& c : m_captures)
        execution.set(c.inner, step.capture(c.index));
    while (!execution.finished()) {
        if (step.isCancelled())
            return cancelled();
        QS_CHECK(execution.step(step.cancelToken()));
    }
    std::vector<Tensor> outputs;
    for (ValueId id : graph().outputs()) {
        if (!execution.has(id))
            return badInput("output '" + graph().value(id).name + "' of its subgraph has no value", {},
                "give data for every input of the model");
        outputs.push_back(execution.get(id));
    }
    return outputs;
}

} // namespace qs
