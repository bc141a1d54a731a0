// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/quantize/prepared_model.h"

#include "core/prepare/prepare.h"
#include "core/project/quantize/fixed_inputs.h"
#include "core/quant/model/opsets.h"
#include "core/quant/model/stated_types.h"
#include "core/quant/recipe/recipe_diff.h"
#include "core/quant/recipe/recipe_options.h"
#include "core/quant/recipe/recipe_ranges.h"
#include "core/quant/write/quantizer.h"

#include <algorithm>
#include <iterator>
#include <unordered_set>

namespace qs {

namespace {

/// The preset's files load: pairs along an axis or with float16 scales came late. ONNX Runtime's tools leave the opset.
Result<bool> raiseForPairs(FloatState& state)
{
    const auto version = opsetThatLoads(state.draft, state.recipe);
    if (!state.recipe.preparation.enabled || !version)
        return false;
    GraphDraft raised = state.draft;
    if (!raiseOpset(raised, *version).ok()) // a warning says that the file is refused
        return false;
    state.draft = std::move(raised);
    return true;
}

} // namespace

bool PreparedModel::changed(const Graph& source) const
{
    const auto stated = statedTypes(source);
    const bool typesMatter = std::ranges::find(stated, false) != stated.end();
    return std::ranges::any_of(reports,
        [&](const PassReport& report) { return report.changes > 0 && (typesMatter || report.pass != "infer_shapes"); });
}

Result<PreparedModel> preparedModel(const QuantizeInputs& inputs)
{
    const GraphPreparation& preparation = inputs.recipe.preparation;
    const Quantization* earlier = inputs.earlier.get();
    if (earlier && earlier->preparedBy == preparation)
        return PreparedModel { earlier->prepared, earlier->preparation, earlier->constants };
    PreparedModel prepared { GraphDraft(inputs.model), {}, std::make_shared<QuantizedConstants>() };
    QS_CHECK(checkIsFloat(prepared.draft));
    QS_TRY(const KnownInputs fixed, fixedInputs(preparation, inputs.model->graph));
    QS_CHECK(fixInputs(prepared.draft, fixed));
    if (preparation.enabled) {
        QS_TRY(prepared.reports, prepareGraph(prepared.draft, skippedPasses(inputs.recipe)));
    }
    return prepared;
}

std::vector<std::string> excludedAndGone(const QuantizeInputs& inputs, const GraphDraft& prepared)
{
    std::vector<std::string> gone;
    if (!inputs.recipe.preparation.enabled || inputs.recipe.exclude.empty())
        return gone;
    const auto namesOf = [&](const GraphDraft& draft) {
        const std::vector<std::string> names = nodeNames(draft, inputs.recipe);
        return std::unordered_set<std::string>(names.begin(), names.end());
    };
    const auto now = namesOf(prepared), before = namesOf(GraphDraft(inputs.model));
    std::ranges::copy_if(inputs.recipe.exclude, std::back_inserter(gone),
        [&](const std::string& name) { return !now.contains(name) && before.contains(name); });
    return gone;
}

Result<FloatState> readyState(const QuantizeInputs& inputs, PreparedModel& prepared, bool* raised)
{
    QS_TRY(Recipe recipe, withTensorPatterns(inputs.recipe, prepared.draft));
    for (const std::string& name : excludedAndGone(inputs, prepared.draft))
        std::erase(recipe.exclude, name);
    for (const PassReport& report : prepared.reports)
        recipe.exclude.insert(recipe.exclude.end(), report.keepFloat.begin(), report.keepFloat.end());
    FloatState state = uncorrected(std::move(prepared.draft), recipe);
    QS_TRY(*raised, raiseForPairs(state));
    return state;
}

Status checkNames(const QuantizeInputs& inputs)
{
    QS_TRY(PreparedModel prepared, preparedModel(inputs));
    bool raised = false;
    QS_TRY(const FloatState state, readyState(inputs, prepared, &raised));
    const auto model = FloatModel::make(state.draft, state.applied, {});
    return model.ok() ? Status() : model.issue();
}

Result<std::vector<std::string>> tensorsToCalibrate(const FloatState& state)
{
    QS_TRY(const FloatModel model, FloatModel::make(state.draft, state.applied, {}));
    return calibratedTensors(model, state.applied);
}

std::string keptKey(Recipe recipe)
{
    recipe.opTypes.clear();
    return recipeKeys(recipe).calibration;
}

Result<CalibrationRun> calibrationRun(
    const QuantizeInputs& inputs, const FloatState& state, std::vector<std::string> tensors, const WorkContext& work)
{
    QS_TRY(const auto model, state.draft.build());
    CalibrationRun run;
    run.plan = Plan::make(model, { .memoryLimit = work.memoryBytes() });
    run.tensors = std::move(tensors);
    run.data = inputs.data;
    run.carry = inputs.carry;
    run.work = work;
    return run;
}

} // namespace qs
