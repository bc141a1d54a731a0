// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/quantization.h"

#include "core/prepare/prepare.h"
#include "core/project/corrections.h"
#include "core/project/memory.h"
#include "core/quant/calibrate.h"
#include "core/quant/calibrators.h"
#include "core/quant/quantizer.h"
#include "core/quant/range_files.h"
#include "core/quant/recipe_json.h"
#include "core/quant/weight_only/gptq_model.h"

#include <chrono>

namespace qs {

namespace {

class Clock {
public:
    double lap()
    {
        const auto now = std::chrono::steady_clock::now();
        return std::chrono::duration<double, std::milli>(now - std::exchange(m_start, now)).count();
    }

private:
    std::chrono::steady_clock::time_point m_start = std::chrono::steady_clock::now();
};

bool needsRanges(RecipeFormat format) { return format == RecipeFormat::Qdq || format == RecipeFormat::QOperator; }

Result<std::shared_ptr<const KeptCalibration>> calibrated(
    const QuantizeInputs& inputs, const FloatState& state, const ProgressFn& progress, const CancelToken& cancel)
{
    const GraphDraft& draft = state.draft;
    const Recipe& recipe = state.applied;
    const std::string key = recipeKeys(recipe).calibration;
    if (inputs.kept && inputs.kept->key == key && inputs.kept->data.covers(recipe.calibration))
        return inputs.kept;
    if (!inputs.data)
        return badUse("this format needs samples to find the ranges of activations",
            "give --data, or --ranges with ranges found before");
    QS_TRY(const auto model, draft.build());
    QS_TRY(const FloatModel floatModel, FloatModel::make(draft, recipe, {}));
    CalibrationRun run;
    run.plan = Plan::make(model);
    run.tensors = calibratedTensors(floatModel, recipe);
    run.data = inputs.data;
    run.carry = inputs.carry;
    run.threads = inputs.threads;
    run.memoryLimit = memoryLimitOrDefault(inputs.memoryLimit);
    auto kept = std::make_shared<KeptCalibration>();
    kept->key = key;
    QS_TRY(kept->data, collectCalibration(run, neededBy(recipe.calibration), progress, cancel));
    return std::shared_ptr<const KeptCalibration>(std::move(kept));
}

Status findRanges(
    const QuantizeInputs& inputs, FloatState& state, const ProgressFn& progress, const CancelToken& cancel)
{
    if (!needsRanges(state.recipe.format))
        return {};
    if (!inputs.rangesPath.empty()) {
        QS_TRY(state.ranges, readRanges(inputs.rangesPath));
    } else if (inputs.ranges) {
        state.ranges = *inputs.ranges;
    } else {
        QS_TRY(state.kept, calibrated(inputs, state, progress, cancel));
        QS_TRY(state.ranges, rangesFor(state.kept->data, state.recipe.calibration));
    }
    return {};
}

/// GPTQ looks at the data while it chooses codes.
Result<ReadyBlocks> blocksWithData(const QuantizeInputs& inputs, const GraphDraft& draft, const Recipe& recipe,
    const ProgressFn& progress, const CancelToken& cancel)
{
    if (!inputs.data)
        return badUse("GPTQ needs samples of what the weights are multiplied with", "give --data");
    CalibrationRun run;
    run.data = inputs.data;
    run.carry = inputs.carry;
    run.threads = inputs.threads;
    run.memoryLimit = memoryLimitOrDefault(inputs.memoryLimit);
    return gptqModel(draft, recipe, std::move(run), progress, cancel);
}

Result<QuantizedDraft> quantized(const QuantizeInputs& inputs, const FloatState& state, const Recipe& recipe,
    ReadyBlocks& blocks, const ProgressFn& progress, const CancelToken& cancel)
{
    QuantizerHelp help;
    help.threads = inputs.threads;
    if (recipe.format == RecipeFormat::WeightOnly && recipe.weightOnly.algorithm == WeightOnlyAlgorithm::Gptq) {
        QS_TRY(blocks, blocksWithData(inputs, state.draft, recipe, progress, cancel));
        help.blocks = &blocks;
    }
    return quantizeDraft(state.draft, recipe, state.ranges, help);
}

Result<Quantization> quantizeSteps(const QuantizeInputs& inputs, const ProgressFn& progress, const CancelToken& cancel)
{
    Clock clock;
    GraphDraft draft(inputs.model);
    QS_CHECK(checkIsFloat(draft));
    bool changed = false;
    std::vector<PassReport> reports;
    Recipe prepared = inputs.recipe;
    if (prepared.preparation.enabled) {
        QS_TRY(reports, prepareGraph(draft, skippedPasses(prepared.preparation)));
        for (const PassReport& report : reports) {
            changed = changed || (report.changes > 0 && report.pass != "infer_shapes");
            prepared.exclude.insert(prepared.exclude.end(), report.keepFloat.begin(), report.keepFloat.end());
        }
    }
    const double prepareMs = clock.lap();
    FloatState state = uncorrected(std::move(draft), prepared);
    const auto blocks = std::make_shared<ReadyBlocks>();
    const CorrectionHooks hooks { [&](FloatState& s) { return findRanges(inputs, s, progress, cancel); },
        [&](const FloatState& s, const Recipe& recipe) {
            return quantized(inputs, s, recipe, *blocks, progress, cancel);
        } };
    std::vector<CorrectionReport> corrections;
    if (asksForCorrections(inputs.recipe)) {
        QS_TRY(corrections, correctModel(state, inputs, hooks, progress, cancel));
        changed = true;
    } else {
        QS_CHECK(hooks.findRanges(state));
    }
    const double calibrateMs = clock.lap();
    if (cancel.cancelled())
        return cancelled();
    QS_TRY(QuantizedDraft quantized, hooks.quantize(state, state.recipe));
    for (const CorrectionReport& report : corrections)
        for (const std::string& note : report.notes)
            quantized.warnings.push_back(report.name + ": " + note);
    return Quantization { std::move(quantized.draft), std::move(state.draft), changed, std::move(state.recipe),
        std::move(corrections), std::move(state.ranges), std::move(state.kept), std::move(quantized.warnings),
        prepareMs, calibrateMs, clock.lap(), std::move(reports), blocks };
}

} // namespace

Result<Quantization> quantizeModel(const QuantizeInputs& inputs, const ProgressFn& progress, const CancelToken& cancel)
{
    auto made = quantizeSteps(inputs, progress, cancel);
    if (made)
        return made;
    Issue issue = std::move(made).issue();
    if (issue.file.empty() && issue.kind == IssueKind::BadInput)
        issue.file = inputs.model->path;
    return issue;
}

} // namespace qs
