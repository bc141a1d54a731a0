// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/bypass/bypass.h"

#include "core/analysis/bypass/bypass_builder.h"
#include "core/analysis/pairs/float_elements.h"

#include <algorithm>
#include <iterator>

namespace qs {

namespace {

Result<Bypassed> bypassed(const ComparePair& pair, const GraphDraft& draft, std::vector<std::string> own)
{
    QS_TRY(const auto model, draft.build());
    return Bypassed { Plan::make(model, { KernelMode::Fast, ArithmeticProfile::Simulated, pair.lowered }),
        std::move(own) };
}

/// In place of those that are no codes and other ones.
void takeFloatConstants(const ComparePair& pair, const std::vector<WeightRounding>& constants, GraphDraft& draft)
{
    const Graph& floats = pair.floatPlan->graph();
    for (const WeightRounding& other : constants) {
        const ValueId id = floats.findValue(other.name);
        const Tensor* value = !other.precision && id.valid() ? pair.floatPlan->constant(id) : nullptr;
        const std::string& name = other.quantizedName;
        const Tensor* old = draft.constant(name);
        const auto made = std::ranges::find_if(draft.nodes,
            [&](const DraftNode& node) { return node.is("Constant") && node.outputs == std::vector { name }; });
        if (const ValueId own = pair.quantPlan->graph().findValue(name); made != draft.nodes.end() && own.valid())
            old = pair.quantPlan->constant(own);
        if (!value || !old)
            continue;
        draft.setConstant(name, convertedTo(*value, old->dtype()));
        if (made != draft.nodes.end())
            draft.nodes.erase(made);
    }
}

} // namespace

Result<Bypassed> bypassQuantizers(const ComparePair& pair, const std::vector<PairPlan>& pairs, BypassedRanges ranges)
{
    BypassBuilder builder(pair, pairs, BypassBuilder::Weights::OfFloatModel, ranges);
    QS_TRY(const GraphDraft draft, builder.make());
    return bypassed(pair, draft, builder.ownConstants());
}

Result<Bypassed> bypassDisturbed(const ComparePair& pair, const std::vector<PairPlan>& pairs, BypassedRanges ranges)
{
    BypassBuilder builder(pair, pairs, BypassBuilder::Weights::OfFloatModel, ranges);
    builder.disturbOwn();
    QS_TRY(const GraphDraft draft, builder.make());
    return bypassed(pair, draft, builder.ownConstants());
}

Result<Bypassed> bypassWithFactors(const ComparePair& pair, const std::vector<PairPlan>& pairs)
{
    BypassBuilder builder(pair, pairs, BypassBuilder::Weights::OfFloatModel);
    builder.keepFactors();
    QS_TRY(const GraphDraft draft, builder.make());
    return bypassed(pair, draft, builder.ownConstants());
}

Result<Bypassed> bypassWithFloatConstants(
    const ComparePair& pair, const std::vector<PairPlan>& pairs, const std::vector<WeightRounding>& constants)
{
    BypassBuilder builder(pair, pairs, BypassBuilder::Weights::OfFloatModel);
    QS_TRY(GraphDraft draft, builder.make());
    takeFloatConstants(pair, constants, draft);
    return bypassed(pair, draft, builder.ownConstants());
}

Result<std::shared_ptr<const Plan>> quantizedWithFloatConstants(
    const ComparePair& pair, const std::vector<WeightRounding>& constants)
{
    const Plan& plan = pair.writtenPlan ? *pair.writtenPlan : *pair.quantPlan;
    GraphDraft draft(std::make_shared<const Model>(plan.model()));
    std::vector<WeightRounding> others; // what rounding alone makes is told of by itself
    std::ranges::copy_if(constants, std::back_inserter(others), &WeightRounding::other);
    takeFloatConstants(pair, others.empty() ? constants : others, draft);
    QS_TRY(const auto model, draft.build());
    return Plan::make(model, { KernelMode::Fast, ArithmeticProfile::Simulated, pair.lowered });
}

Result<Bypassed> bypassWithOwnConstants(
    const ComparePair& pair, const std::vector<PairPlan>& pairs, BypassedRanges ranges)
{
    BypassBuilder builder(pair, pairs, BypassBuilder::Weights::Stored, ranges);
    builder.keepFactors();
    QS_TRY(const GraphDraft draft, builder.make());
    return bypassed(pair, draft, builder.ownConstants());
}

} // namespace qs
