// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/about/explained_element.h"

#include "core/analysis/pairs/pair_plan.h"
#include "core/explain/explain_element.h"
#include "core/project/snapshot/comparing.h"

#include <algorithm>

namespace qs {

TensorPlace quantizedSide(const Snapshot& s, const TensorPlace& place)
{
    if (place.quantized || !s.floatModel || !s.quantModel || !s.alignment)
        return place;
    const auto& weights = s.alignment->weights;
    const auto weight = std::ranges::find(weights, place.value, &WeightPair::floatValue);
    if (weight != weights.end()) {
        const bool inOrder = !weight->transposed && !weight->places;
        const ValueId shown = s.quantModel->quant->quantizers()[weight->quantizer].shown();
        return inOrder && shown.valid() ? TensorPlace { true, shown, std::nullopt } : place;
    }
    const auto plans = planPairs(comparePairOf(s));
    const auto found = std::ranges::find_if(plans, [&](const PairPlan& plan) { return place.isPair(plan.x, plan.y); });
    return found == plans.end() ? place : TensorPlace { true, found->y, std::nullopt };
}

Result<ElementExplanation> explainElement(const Snapshot& s, const ElementAsked& asked, const WorkContext& work)
{
    const auto& model = asked.place.quantized ? s.quantModel : s.floatModel;
    const auto& fed = s.floatModel ? s.floatModel : s.quantModel;
    if (!model || !asked.place.value.valid() || asked.place.value.index() >= model->graph().values().size())
        return badInput("this tensor is not there any more", {}, "choose another tensor");
    const bool paired = asked.place.quantized && s.floatModel && s.alignment;
    const bool alone = !s.floatModel || !s.quantModel;
    std::optional<ComparePair> pair;
    if (paired)
        pair = comparePairOf(s);
    const bool inProfile = asked.place.quantized || alone;
    ExplainedModel explained { model->plan, model->quant, inProfile ? s.inputs.profile : ArithmeticProfile::Simulated,
        pair ? &*pair : nullptr, s.caches.activations };
    if (pair)
        explained.plan = pair->quantPlan;
    else if (explained.profile != ArithmeticProfile::Simulated)
        explained.plan = Plan::make(model->model, { KernelMode::Fast, explained.profile, s.caches.lowered });
    const bool written = explained.profile == ArithmeticProfile::Simulated;
    const SampleRuns runs { s.data, fed->plan, s.inputs.carry, written ? s.caches.activations : nullptr };
    return explainElement(explained, { asked.place.value, asked.at, asked.sample, asked.withinSample }, runs, work);
}

} // namespace qs
