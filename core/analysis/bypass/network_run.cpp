// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/bypass/network_run.h"

#include "core/analysis/pairs/fed_model.h"
#include "core/engine/run/execution.h"
#include "core/prepare/prepare.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace qs {

namespace {

/// Sizes follow from it: the factors of Resize, the ends and step of Range.
bool setsSizes(const GraphDraft& draft, const std::string& constant)
{
    constexpr std::array<std::string_view, 4> kBySizes { "Resize", "Upsample", "Range", "TopK" };
    return std::ranges::any_of(draft.nodes, [&](const DraftNode& node) {
        return std::ranges::find(kBySizes, node.opType) != kBySizes.end()
            && std::ranges::find(node.inputs, constant) != node.inputs.end();
    });
}

/// Every floating-point constant of the draft, and of the graphs inside it, but those that sizes follow from.
Status changeConstants(GraphDraft& draft, const OnValue& made, uint32_t& number)
{
    QS_TRY(const PassReport folded, foldConstants(draft));
    static_cast<void>(folded);
    for (const std::string& name : std::vector<std::string>(draft.constants())) {
        const Tensor* t = draft.constant(name);
        if (t && isFloat(t->dtype()) && !setsSizes(draft, name))
            draft.setConstant(name, made(*t, number++));
    }
    const BodyFn changed = [&](const std::shared_ptr<const Graph>& body) -> Result<std::shared_ptr<const Graph>> {
        GraphDraft inner = draftOfBody(draft, *body);
        QS_CHECK(changeConstants(inner, made, number));
        QS_TRY(const auto model, inner.build());
        return std::shared_ptr<const Graph>(model, &model->graph);
    };
    for (DraftNode& node : draft.nodes)
        QS_CHECK(replaceSubgraphs(node, changed));
    return {};
}

} // namespace

Result<std::vector<Tensor>> runNetwork(const std::shared_ptr<const Plan>& plan,
    const std::shared_ptr<const Plan>& floatPlan, const std::vector<ValueId>& values, const std::vector<Tensor>& inputs,
    const WorkContext& work, const OnValue& onValue)
{
    QS_TRY(const auto schedule, Schedule::make(plan, { values, {} }));
    BufferPool pool(work.memoryBytes());
    Execution run(schedule, pool);
    std::vector<Tensor> bound = FedModel { CarriedState(plan), CarriedState(floatPlan) }.inputs(inputs);
    uint32_t number = 0;
    for (Tensor& t : bound)
        if (onValue && t.valid())
            t = onValue(t, number++);
    QS_CHECK(run.bind(bound));
    while (!run.finished()) {
        if (work.cancel.cancelled())
            return cancelled();
        QS_CHECK(run.step(&work.cancel));
        if (onValue)
            for (const ValueId out : schedule->tasks()[run.position() - 1].outputs)
                if (out.valid() && run.has(out))
                    run.set(out, onValue(run.get(out), number++));
    }
    std::vector<Tensor> found;
    for (const ValueId id : values)
        found.push_back(run.get(id));
    return found;
}

Result<std::vector<Tensor>> runNetworkFrom(const std::shared_ptr<const Plan>& plan,
    const std::shared_ptr<const Plan>& floatPlan, const std::map<ValueId, Tensor>& given,
    const std::vector<ValueId>& values, const std::vector<Tensor>& inputs, const WorkContext& work)
{
    std::vector<ValueId> kept = values; // what is given has to be a value of its own, not one inside a fused step
    for (const auto& [id, value] : given)
        kept.push_back(id);
    QS_TRY(const auto schedule, Schedule::make(plan, { kept, {} }));
    BufferPool pool(work.memoryBytes());
    Execution run(schedule, pool);
    QS_CHECK(run.bind(FedModel { CarriedState(plan), CarriedState(floatPlan) }.inputs(inputs)));
    while (!run.finished()) {
        if (work.cancel.cancelled())
            return cancelled();
        QS_CHECK(run.step(&work.cancel));
        for (const ValueId out : schedule->tasks()[run.position() - 1].outputs) {
            const auto it = given.find(out);
            if (it == given.end() || !run.has(out))
                continue;
            const Tensor& own = run.get(out);
            if (own.dtype() != it->second.dtype() || own.shape() != it->second.shape()
                || own.layout() != it->second.layout())
                return badInput("a value has another type or size than the one that is to take its place");
            run.set(out, it->second);
        }
    }
    std::vector<Tensor> found;
    for (const ValueId id : values)
        found.push_back(run.get(id));
    return found;
}

Result<std::shared_ptr<const Plan>> withConstants(const Plan& plan, const OnValue& made)
{
    GraphDraft draft(std::make_shared<const Model>(plan.model()));
    uint32_t number = 0;
    QS_CHECK(changeConstants(draft, made, number));
    QS_TRY(const auto model, draft.build());
    return Plan::make(model);
}

} // namespace qs
