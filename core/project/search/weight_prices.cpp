// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/search/weight_prices.h"

#include "core/base/work/memory.h"
#include "core/project/quantize/quantize_model.h"

namespace qs {

namespace {

QuantizeInputs quantizeBy(const Snapshot& snapshot, Recipe recipe)
{
    QuantizeInputs inputs;
    inputs.model = snapshot.floatFile->model;
    inputs.recipe = std::move(recipe);
    inputs.data = snapshot.calibrationData ? snapshot.calibrationData : snapshot.data;
    inputs.carry = snapshot.inputs.carry;
    inputs.earlier = snapshot.quantization;
    return inputs;
}

/// Where data choose the codes: the blocks of each type that weights are offered.
Result<std::shared_ptr<const ReadyBlocks>> blocksOfLadder(const Snapshot& snapshot, const WorkContext& work)
{
    if (!snapshot.quantization->blocks)
        return std::shared_ptr<const ReadyBlocks>();
    auto all = std::make_shared<ReadyBlocks>(*snapshot.quantization->blocks);
    for (const WeightStore& store : weightLadder(*snapshot.inputs.recipe)) {
        Recipe recipe = *snapshot.inputs.recipe;
        if (!store || *store == recipe.weightType)
            continue;
        recipe.weightType = *store;
        QS_TRY(const Quantization made, quantizeModel(quantizeBy(snapshot, std::move(recipe)), work));
        if (made.blocks)
            all->insert(made.blocks->begin(), made.blocks->end());
    }
    return std::shared_ptr<const ReadyBlocks>(std::move(all));
}

} // namespace

Result<WeightPrices> weightPricesOf(
    const Snapshot& snapshot, const PriceRequest& request, const ProgressFn& progress, const CancelToken& cancel)
{
    const Inputs& from = snapshot.inputs;
    if (!snapshot.quantization || !from.recipe)
        return badUse("the weights of a quantized file have their types already", "give the float model and a recipe");
    const WorkContext work = workFor(from, progress, cancel);
    PriceInputs inputs;
    inputs.model = snapshot.floatFile->model;
    inputs.prepared = &snapshot.quantization->prepared;
    inputs.recipe = snapshot.quantization->recipe;
    QS_TRY(inputs.blocks, blocksOfLadder(snapshot, work));
    inputs.data = snapshot.data;
    inputs.only = request.only;
    inputs.search = request.search;
    inputs.steps = request.steps;
    inputs.seconds = request.seconds;
    inputs.budget = request.budget;
    inputs.profile = from.profile;
    inputs.lowered = snapshot.caches.lowered;
    inputs.runs = { .cacheBytes = defaultActivationCache(), .carry = from.carry, .tasks = from.tasks };
    return measureWeightPrices(inputs, work);
}

Result<PricedModel> pricedModel(const Snapshot& snapshot, const WeightPrices& prices, const PricePoint& point,
    const ProgressFn& progress, const CancelToken& cancel)
{
    Recipe recipe = *snapshot.inputs.recipe;
    recipe.weightType = *prices.ladder.front();
    for (size_t u = 0; u < prices.units.size(); ++u)
        setStore(recipe, prices.units[u].unit, prices.ladder[point.choice[u]], point.choice[u] == 0);
    QS_TRY(Quantization made, quantizeModel(quantizeBy(snapshot, recipe), workFor(snapshot.inputs, progress, cancel)));
    return PricedModel { std::move(recipe), std::move(made.prepared), std::move(made.draft) };
}

} // namespace qs
