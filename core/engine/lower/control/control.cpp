// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/control/parts.h"
#include "core/engine/lower/control/stacked_values.h"
#include "core/engine/registry/registry.h"
#include "core/engine/run/subgraph.h"
#include "core/ops/fact_tools.h"
#include "core/tensor/convert.h"

#include <algorithm>

/// If and Loop; Scan and SequenceMap have files of their own.
namespace qs {

namespace {

Result<bool> truth(const Tensor& t)
{
    if (t.dtype() != DType::Bool || t.count() != 1)
        return badInput(
            "the condition must be one bool, but is " + std::string(dtypeName(t.dtype())) + " " + shapeText(t.shape()));
    return elementAsInt(t, 0) != 0;
}

Status runBranch(const Subgraph& branch, StepContext& c)
{
    QS_TRY(const std::vector<Tensor> values, branch.run(c, {}));
    for (size_t i = 0; i < c.outputCount(); ++i)
        c.setOutput(i, values[i]);
    return {};
}

Result<std::shared_ptr<const Subgraph>> branchOf(
    const LowerContext& c, const std::string& attribute, std::vector<bool>& reads)
{
    QS_TRY(Subgraph made, Subgraph::make(c, attribute, {}, reads));
    if (made.outputCount() < c.node.outputs.size())
        return badInput("its " + attribute + " has fewer outputs than the node", {}, "export the model again");
    return std::make_shared<const Subgraph>(std::move(made));
}

Result<LoweredNode> lowerIf(const LowerContext& c)
{
    LoweredNode lowered;
    lowered.layouts = LayoutRule::Any;
    if (const Tensor* constant = c.constant(0)) {
        QS_TRY(const bool taken, truth(*constant));
        const std::string attribute = taken ? "then_branch" : "else_branch";
        QS_TRY(const auto branch, branchOf(c, attribute, lowered.captures));
        lowered.foldable = branch->isConstant();
        lowered.kernel = "always its " + attribute;
        lowered.run = [branch](StepContext& s) { return runBranch(*branch, s); };
        return lowered;
    }
    QS_TRY(const auto whenTrue, branchOf(c, "then_branch", lowered.captures));
    QS_TRY(const auto whenFalse, branchOf(c, "else_branch", lowered.captures));
    lowered.foldable = false;
    lowered.kernel = "branch";
    lowered.run = [whenTrue, whenFalse](StepContext& s) -> Status {
        QS_TRY(const bool taken, truth(s.in(0)));
        return runBranch(taken ? *whenTrue : *whenFalse, s);
    };
    return lowered;
}

/// Inputs of the node: trip count, condition, states; outputs: states, stacked values. Of the body: iteration,
/// condition, states; condition, states, values to stack.
struct LoopStep {
    std::shared_ptr<const Subgraph> body;
    size_t states = 0;
    Shape iteration, condition; ///< of these two as the body gets them

    Status run(StepContext& c) const;
};

Status LoopStep::run(StepContext& c) const
{
    int64_t trips = INT64_MAX;
    if (const Tensor* t = c.input(0)) {
        if (t->dtype() != DType::Int64 || t->count() != 1)
            return badInput("the trip count must be one int64");
        trips = elementAsInt(*t, 0);
    }
    bool go = true;
    if (const Tensor* t = c.input(1)) {
        QS_TRY(go, truth(*t));
    }
    std::vector<Tensor> values(states + 2);
    for (size_t i = 0; i < states; ++i)
        values[i + 2] = c.in(i + 2);
    values[1] = c.allocate(DType::Bool, condition);
    values[1].fill<uint8_t>()[0] = 1;
    std::vector<StackedValues> stacked(body->outputCount() - 1 - states);
    for (int64_t i = 0; go && i < trips; ++i) {
        if (c.isCancelled())
            return cancelled();
        values[0] = c.allocate(DType::Int64, iteration);
        values[0].fill<int64_t>()[0] = i;
        QS_TRY(std::vector<Tensor> made, body->run(c, values));
        QS_TRY(go, truth(made[0]));
        for (size_t k = 0; k < states; ++k)
            values[k + 2] = std::move(made[k + 1]);
        for (size_t k = 0; k < stacked.size(); ++k)
            QS_CHECK(stacked[k].add(c, made[k + 1 + states]));
    }
    for (size_t i = 0; i < std::min(states, c.outputCount()); ++i)
        c.setOutput(i, values[i + 2]);
    for (size_t k = 0; k < stacked.size() && k + states < c.outputCount(); ++k) {
        QS_TRY(Tensor all, stacked[k].take(c, body->outputFact(k + 1 + states)));
        c.setOutput(k + states, std::move(all));
    }
    return {};
}

Result<LoweredNode> lowerLoop(const LowerContext& c)
{
    if (c.node.inputs.size() < 2)
        return badInput("it needs a trip count and a condition, even empty ones", {}, "export the model again");
    LoopStep step;
    step.states = c.node.inputs.size() - 2;
    const auto* graph = c.node.attributes.get<std::shared_ptr<const Graph>>("body");
    std::vector<Fact> inputs { { DType::Int64, Dims {}, {} }, { DType::Bool, Dims {}, {} } };
    for (size_t i = 0; graph && *graph && i < 2; ++i)
        inputs[i].dims = loopInputDims(**graph, i);
    step.iteration = Shape(inputs[0].dims->size(), 1);
    step.condition = Shape(inputs[1].dims->size(), 1);
    for (size_t i = 0; i < step.states; ++i)
        inputs.push_back({ c.inputType(i + 2), {}, {} });
    LoweredNode lowered;
    QS_TRY(Subgraph body, Subgraph::make(c, "body", inputs, lowered.captures));
    if (body.inputCount() != step.states + 2 || body.outputCount() < step.states + 1
        || c.node.outputs.size() > body.outputCount() - 1)
        return badInput("its body does not fit its inputs and outputs", {}, "export the model again");
    step.body = std::make_shared<const Subgraph>(std::move(body));
    lowered.run = [step](StepContext& s) { return step.run(s); };
    lowered.kernel = "loop";
    lowered.layouts = LayoutRule::Any;
    lowered.takesContainers = true;
    lowered.foldable = false;
    return lowered;
}

} // namespace

void lowerControl(LoweringRegistry& r)
{
    r.add("", "If", lowerIf);
    r.add("", "Loop", lowerLoop);
    r.add("", "Scan", lowerScan);
    r.add("", "SequenceMap", lowerSequenceMap);
}

} // namespace qs
