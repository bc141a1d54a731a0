// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/quantization.h"

#include "core/onnx/import.h"
#include "core/prepare/prepare.h"
#include "core/project/memory.h"
#include "core/project/workspace.h"
#include "core/quant/calibrate.h"
#include "core/quant/quantizer.h"
#include "core/quant/range_files.h"

#include <algorithm>
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

Result<Ranges> rangesOf(const QuantizeInputs& inputs, const GraphDraft& draft, std::vector<std::string>& warnings,
    const ProgressFn& progress, const CancelToken& cancel)
{
    if (!inputs.rangesPath.empty())
        return readRanges(inputs.rangesPath);
    if (inputs.data.spec.empty())
        return badUse("this format needs samples to find the ranges of activations",
            "give --data, or --ranges with ranges found before");
    QS_TRY(const auto model, draft.build());
    CalibrationRun run;
    run.plan = Plan::make(model);
    QS_TRY(FloatModel floatModel, FloatModel::make(draft, inputs.recipe, {}));
    run.tensors = calibratedTensors(floatModel, inputs.recipe);
    QS_TRY(run.data, openData(inputs.data, dataInputs(model->graph, inputs.carry)));
    warnings.insert(warnings.end(), run.data->warnings().begin(), run.data->warnings().end());
    run.carry = inputs.carry;
    run.threads = inputs.threads;
    run.memoryLimit = memoryLimitOrDefault(inputs.memoryLimit);
    return calibrate(run, inputs.recipe.calibration, progress, cancel);
}

} // namespace

Result<Quantization> quantizeModel(const QuantizeInputs& inputs, const ProgressFn& progress, const CancelToken& cancel)
{
    const auto named = [&](Issue issue) {
        if (issue.file.empty() && issue.kind == IssueKind::BadInput)
            issue.file = inputs.floatPath;
        return issue;
    };
    Clock clock;
    QS_TRY(const auto model, importModel(inputs.floatPath));
    std::vector<std::string> warnings = model->warnings;
    GraphDraft draft(model);
    if (inputs.recipe.preparation.enabled) {
        auto reports = prepareGraph(draft);
        if (!reports)
            return named(std::move(reports).issue());
    }
    const double prepareMs = clock.lap();
    Ranges ranges;
    if (needsRanges(inputs.recipe.format)) {
        auto found = rangesOf(inputs, draft, warnings, progress, cancel);
        if (!found)
            return named(std::move(found).issue());
        ranges = std::move(*found);
    }
    const double calibrateMs = clock.lap();
    auto quantized = quantizeDraft(std::move(draft), inputs.recipe, ranges);
    if (!quantized)
        return named(std::move(quantized).issue());
    warnings.insert(warnings.end(), quantized->warnings.begin(), quantized->warnings.end());
    return Quantization { std::move(quantized->draft), std::move(ranges), std::move(warnings), prepareMs, calibrateMs,
        clock.lap() };
}

} // namespace qs
