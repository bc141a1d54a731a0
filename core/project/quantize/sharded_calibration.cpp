// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/quantize/sharded_calibration.h"

#include "core/project/quantize/prepared_model.h"
#include "core/quant/calibrate/calibration_cache.h"
#include "core/quant/recipe/recipe_ranges.h"

#include <algorithm>

namespace qs {

namespace {

Status checkInParts(const QuantizeInputs& inputs)
{
    const Recipe& recipe = inputs.recipe;
    if (!isStatic(recipe.format))
        return badUse("the format " + std::string(nameIn(kRecipeFormats, recipe.format)) + " has no calibrated ranges",
            "leave out --shard and --calibrated");
    if (recipe.smoothQuant || recipe.corrections.equalize)
        return badUse("equalization and SmoothQuant change the model before its ranges are found, so they cannot be "
                      "calibrated in shards",
            "quantize with all samples, or leave these corrections out");
    if (!inputs.carry.empty())
        return badUse("--carry takes samples in order, so they cannot be split by --shard", "leave one of them out");
    return {};
}

/// Counts that a recipe asks for and the parts do not hold.
Issue lackingCounts(const std::string& file)
{
    return badInput("is of a calibration without the histograms for this calibrator", file,
        "run the second round of all shards, by --shard with --calibrated, and give its state files, too");
}

/// What is kept for these samples must have been found with them.
Status checkSamples(const QuantizeInputs& inputs, const CalibrationSum& sum, const std::string& file)
{
    if (!inputs.data) // which the cache asks for
        return {};
    QS_TRY(const Hash128 samples, dataIdentity(*inputs.data));
    if (samples != sum.samples || inputs.data->feeds() != sum.data.feeds)
        return badInput(
            "is of other data than those that are given", file, "give the samples and their options as to the shards");
    return {};
}

} // namespace

bool needsSecondRound(const Recipe& recipe) { return !neededOfParts(neededBy(recipe)).histograms.empty(); }

Result<CalibrationPart> calibratePart(const QuantizeInputs& inputs, size_t index, size_t count,
    const std::vector<std::string>& calibrated, const WorkContext& work)
{
    QS_CHECK(checkInParts(inputs));
    QS_TRY(PreparedModel prepared, preparedModel(inputs));
    bool raised = false;
    QS_TRY(const FloatState state, readyState(inputs, prepared, &raised));
    QS_TRY(auto tensors, tensorsToCalibrate(state));
    QS_TRY(const CalibrationRun run, calibrationRun(inputs, state, std::move(tensors), work));
    const CollectOptions needed = neededBy(state.applied);
    if (calibrated.empty())
        return firstRound(run, needed, index, count);
    QS_TRY(const CalibrationSum first, sumOfParts(calibrated, Rounds::First));
    if (first.parts != count)
        return badInput(
            "is one of " + std::to_string(first.parts) + " shards, but --shard is one of " + std::to_string(count),
            calibrated.front(), "use as many shards in both rounds");
    return secondRound(run, needed, first, index);
}

Status takeCalibration(QuantizeInputs& inputs, const std::vector<std::string>& calibrated, const WorkContext& work)
{
    QS_CHECK(checkInParts(inputs));
    QS_TRY(CalibrationSum sum, sumOfParts(calibrated, Rounds::Both));
    QS_TRY(PreparedModel prepared, preparedModel(inputs));
    auto earlier = std::make_shared<Quantization>(Quantization { .draft = prepared.draft, .prepared = prepared.draft });
    earlier->preparation = prepared.reports;
    earlier->preparedBy = inputs.recipe.preparation;
    earlier->constants = prepared.constants;
    bool raised = false;
    QS_TRY(const FloatState state, readyState(inputs, prepared, &raised));
    QS_TRY(const auto tensors, tensorsToCalibrate(state));
    QS_TRY(const CalibrationRun run, calibrationRun(inputs, state, tensors, work));
    QS_TRY(const Hash128 model, modelIdentity(run));
    if (model != sum.model)
        return badInput("is of another model, or of another version of this program", calibrated.front(),
            "give the state files of this model and recipe");
    if (const auto lacking = sum.data.lacking(tensors); !lacking.empty())
        return Issue { IssueKind::BadInput, "was not looked at in the calibration of the shards", {}, {},
            lacking.front(), "calibrate them with this recipe" };
    if (!covers(sum.data, state.applied))
        return lackingCounts(calibrated.front());
    if (!inputs.calibrationCache.empty()) {
        QS_CHECK(checkSamples(inputs, sum, calibrated.front()));
        QS_CHECK(keepInCache(run, sum.data, inputs.calibrationCache));
    }
    auto kept = std::make_shared<KeptCalibration>();
    kept->key = keptKey(state.applied);
    kept->data = std::move(sum.data);
    earlier->kept = std::move(kept);
    inputs.earlier = std::move(earlier);
    return {};
}

} // namespace qs
