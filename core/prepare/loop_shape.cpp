// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/prepare/plan_constant.h"
#include "core/prepare/unrolled_loop.h"
#include "core/tensor/convert.h"

#include <algorithm>

namespace qs {

namespace {

LoopShape refused(std::string reason)
{
    LoopShape shape;
    shape.reason = std::move(reason);
    return shape;
}

LoopShape open(std::string what, std::vector<size_t> follows)
{
    LoopShape shape = refused(std::move(what));
    shape.known = false;
    shape.follows = std::move(follows);
    return shape;
}

LoopShape openBySize(size_t input)
{
    LoopShape shape = open("its number of iterations", { input });
    shape.bySize = true;
    return shape;
}

bool isTrue(const Tensor* t) { return t && t->dtype() == DType::Bool && t->count() == 1 && elementAsInt(*t, 0) != 0; }

/// The plan of the node's only subgraph; null when it has none.
const Plan* bodyPlan(const DraftNode& node, const Plan& plan)
{
    for (const std::string& out : node.outputs) {
        const ValueId id = plan.graph().findValue(out);
        if (!id.valid() || !plan.graph().value(id).producer.valid())
            continue;
        const auto& plans = plan.step(plan.graph().value(id).producer).subPlans;
        return plans.size() == 1 ? plans[0].get() : nullptr;
    }
    return nullptr;
}

/// The condition that an iteration returns is true whatever it computes: a constant, or what it was given.
bool goesOn(const DraftNode& node, const Graph& body, const Plan& plan)
{
    ValueId id = body.outputs()[0];
    for (;;) {
        const Value& value = body.value(id);
        if (id == body.inputs()[1] || isTrue(value.initializer ? &*value.initializer : nullptr))
            return true;
        if (!value.producer.valid())
            return isTrue(constantOf(plan, value.name));
        const Node& made = body.node(value.producer);
        if (!(made.is("Identity") || made.is("Cast")) || !made.hasInput(0))
            break;
        id = made.inputs[0];
    }
    const Plan* inner = bodyPlan(node, plan);
    const ValueId there = inner ? inner->graph().findValue(body.value(id).name) : ValueId();
    return there.valid() && isTrue(inner->constant(there));
}

LoopShape shapeOfLoop(const DraftNode& node, LoopShape shape, const Plan& plan)
{
    const Graph& body = *shape.body;
    if (node.inputs.size() < 2 || body.inputs().size() != node.inputs.size()
        || body.outputs().size() < node.inputs.size() - 1)
        return refused("its body does not fit its inputs and outputs");
    shape.counts = true;
    shape.states = node.inputs.size() - 2;
    if (node.hasInput(1) && !isTrue(constantOf(plan, node.inputs[1])))
        return open("its condition", { 1 });
    if (!goesOn(node, body, plan))
        return refused("an iteration decides whether another follows");
    const Tensor* trips = node.hasInput(0) ? constantOf(plan, node.inputs[0]) : nullptr;
    if (!trips || trips->count() != 1 || trips->dtype() != DType::Int64)
        return open("its number of iterations", { 0 });
    shape.follows = { 0, 1 };
    shape.trips = elementAsInt(*trips, 0);
    return shape;
}

LoopShape shapeOfScan(const DraftNode& node, LoopShape shape, const Plan& plan)
{
    const auto opset = plan.model().opsetImports.find("");
    if (opset == plan.model().opsetImports.end() || opset->second < 9)
        return refused("this form of the operator, with a batch, is as old as opset 8");
    const Attributes& a = node.attributes;
    const int64_t rows = a.integer("num_scan_inputs", 0);
    const Graph& body = *shape.body;
    if (rows < 1 || node.inputs.size() < static_cast<uint64_t>(rows) || body.inputs().size() != node.inputs.size())
        return refused("its body does not fit its inputs and outputs");
    shape.rows = static_cast<size_t>(rows);
    shape.states = node.inputs.size() - shape.rows;
    if (body.outputs().size() < shape.states)
        return refused("its body does not fit its inputs and outputs");
    shape.rowAxes = a.integers("scan_input_axes");
    shape.rowDirections = a.integers("scan_input_directions");
    shape.stackAxes = a.integers("scan_output_axes");
    shape.stackDirections = a.integers("scan_output_directions");
    const ValueId first = plan.graph().findValue(node.inputs[shape.states]);
    const auto& dims = plan.facts().of(first).dims;
    const int64_t given = shape.rowAxes.empty() ? 0 : shape.rowAxes[0];
    const auto rank = dims ? static_cast<int64_t>(dims->size()) : 0;
    const int64_t axis = given < 0 ? given + rank : given;
    if (axis < 0 || axis >= rank || !(*dims)[static_cast<size_t>(axis)].known())
        return openBySize(shape.states);
    shape.follows = { shape.states };
    shape.bySize = true;
    shape.trips = (*dims)[static_cast<size_t>(axis)].value;
    return shape;
}

} // namespace

LoopShape loopShape(const DraftNode& node, const Plan& plan)
{
    LoopShape shape;
    const auto* body = node.attributes.get<std::shared_ptr<const Graph>>("body");
    if (!body || !*body)
        return refused("its body is missing");
    shape.body = *body;
    shape = node.is("Loop") ? shapeOfLoop(node, std::move(shape), plan) : shapeOfScan(node, std::move(shape), plan);
    if (shape.reason.empty() && shape.trips < 1)
        return refused("it runs no iteration");
    return shape;
}

} // namespace qs
