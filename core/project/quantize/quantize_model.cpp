// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/quantize/quantize_model.h"

#include "core/base/work/long_work.h"
#include "core/base/work/stopwatch.h"
#include "core/data/sample_hash.h"
#include "core/engine/run/memory_budget.h"
#include "core/prepare/prepare.h"
#include "core/project/quantize/corrections.h"
#include "core/project/quantize/fixed_inputs.h"
#include "core/project/quantize/prepared_model.h"
#include "core/project/quantize/recipe_codes.h"
#include "core/quant/calibrate/calibration_cache.h"
#include "core/quant/ranges/range_files.h"
#include "core/quant/recipe/recipe_ranges.h"
#include "core/quant/weight_only/gptq_model.h"
#include "core/quant/write/quantizer.h"

#include <algorithm>
#include <filesystem>
#include <unordered_set>

namespace qs {

namespace {

/// What was kept of the same tensors; null where nothing was.
const KeptCalibration* before(const QuantizeInputs& inputs, const FloatState& state)
{
    const KeptCalibration* kept = inputs.earlier ? inputs.earlier->kept.get() : nullptr;
    return kept && kept->key == keptKey(state.applied) ? kept : nullptr;
}

/// More than the recipe needs where other recipes follow: the first time what one pass finds for the defaults of every
/// calibrator; where that was not enough, all.
CollectOptions wantedOf(const QuantizeInputs& inputs, const Recipe& recipe, const KeptCalibration* kept)
{
    CollectOptions wanted = neededBy(recipe);
    if (kept)
        wanted = both(wanted, kept->data.collected);
    if (inputs.othersFollow)
        wanted = both(
            wanted, kept && !covers(kept->data, recipe) ? neededByAll(wanted.stride) : neededByDefaults(wanted.stride));
    return wanted;
}

/// Of samples that no model ran over.
Status hashSamples(const DataSource& data, std::vector<uint64_t>& hashes)
{
    for (size_t i = 0; i < data.feeds(); ++i) {
        QS_TRY(const Feed feed, data.feed(i));
        std::ranges::copy(sampleHashes(feed), hashes.begin() + std::ptrdiff_t(feed.firstSample));
    }
    return {};
}

Result<std::shared_ptr<const KeptCalibration>> collected(
    const QuantizeInputs& inputs, const FloatState& state, std::vector<std::string> tensors, const WorkContext& work)
{
    const std::string& cache = inputs.calibrationCache;
    std::error_code none;
    if (!inputs.data && (cache.empty() || !std::filesystem::exists(cache, none)))
        return badUse(cache.empty() ? "this format needs samples to find the ranges of activations"
                                    : "this format needs samples to find the ranges of activations, and the "
                                      "calibration cache "
                    + cache + " does not exist",
            "give --data, or --ranges with ranges found before");
    QS_TRY(CalibrationRun run, calibrationRun(inputs, state, std::move(tensors), work));
    auto kept = std::make_shared<KeptCalibration>();
    kept->key = keptKey(state.applied);
    kept->opTypes = state.applied.opTypes;
    if (inputs.data) {
        kept->sampleHashes.resize(inputs.data->samples());
        run.hashes = &kept->sampleHashes;
    }
    if (cache.empty()) {
        const CollectOptions wanted = wantedOf(inputs, state.applied, before(inputs, state));
        QS_TRY(kept->data, collectCalibration(run, wanted));
    } else {
        QS_TRY(CachedCalibration made, cachedCalibration(run, neededBy(state.applied), cache));
        kept->data = std::move(made.data);
        kept->fromFile = made.found;
        if (made.found && inputs.data)
            QS_CHECK(hashSamples(*inputs.data, kept->sampleHashes));
    }
    return std::shared_ptr<const KeptCalibration>(std::move(kept));
}

/// Ranges of exactly those tensors that the recipe's form needs.
Status calibrate(const QuantizeInputs& inputs, FloatState& state, const WorkContext& work)
{
    const KeptCalibration* earlier = before(inputs, state);
    const bool usable = earlier && covers(earlier->data, state.applied);
    if (usable && earlier->opTypes == state.applied.opTypes) {
        state.kept = inputs.earlier->kept;
    } else {
        QS_TRY(auto tensors, tensorsToCalibrate(state));
        if (usable && earlier->data.lacking(tensors).empty()) {
            state.kept = inputs.earlier->kept;
            QS_TRY(state.ranges, rangesFor(earlier->data, state.recipe));
            const std::unordered_set<std::string> wanted(tensors.begin(), tensors.end());
            std::erase_if(state.ranges.tensors, [&](const auto& entry) { return !wanted.contains(entry.first); });
            return {};
        }
        QS_TRY(state.kept, collected(inputs, state, std::move(tensors), work));
    }
    QS_TRY(state.ranges, rangesFor(state.kept->data, state.recipe));
    return {};
}

Status findRanges(const QuantizeInputs& inputs, FloatState& state, const WorkContext& work)
{
    if (!isStatic(state.recipe.format))
        return {};
    if (!inputs.rangesPath.empty()) {
        QS_TRY(state.ranges, readRanges(inputs.rangesPath));
    } else if (inputs.ranges) {
        state.ranges = *inputs.ranges;
    } else {
        QS_CHECK(calibrate(inputs, state, work));
    }
    return {};
}

bool needsBlocks(const Recipe& recipe)
{
    return recipe.format == RecipeFormat::WeightOnly && recipe.weightOnly.algorithm == WeightOnlyAlgorithm::Gptq;
}

/// GPTQ looks at the data while it chooses codes.
Result<ReadyBlocks> blocksWithData(
    const QuantizeInputs& inputs, const GraphDraft& draft, const Recipe& recipe, const WorkContext& work)
{
    if (!inputs.data)
        return badUse("GPTQ needs samples of what the weights are multiplied with", "give --data");
    CalibrationRun run;
    run.data = inputs.data;
    run.carry = inputs.carry;
    run.work = work;
    return gptqModel(draft, recipe, std::move(run));
}

Result<QuantizedDraft> quantized(const QuantizeInputs& inputs, const FloatState& state, const Recipe& recipe,
    QuantizerHelp help, ReadyBlocks& blocks, const WorkContext& work)
{
    help.threads = work.threadCount();
    if (needsBlocks(recipe)) {
        QS_TRY(blocks, blocksWithData(inputs, state.draft, recipe, work));
        help.blocks = &blocks;
    }
    return quantizeDraft(state.draft, recipe, state.ranges, help);
}

/// An If that could be folded.
Status warnOfBranches(const QuantizeInputs& inputs, const FloatState& state, std::vector<std::string>& warnings)
{
    const bool opens = state.recipe.format == RecipeFormat::WeightOnly || entersSubgraphs(state.recipe);
    if (opens || !state.recipe.preparation.enabled)
        return {};
    QS_TRY(const auto hints, branchHints(state.draft, inputs.data.get(), inputs.model->graph, inputs.carry));
    warnings.insert(warnings.end(), hints.begin(), hints.end());
    return {};
}

/// A state of length 0 that a decoder begins with, say.
void warnOfEmptyTensors(const FloatState& state, std::vector<std::string>& warnings)
{
    if (!state.kept)
        return;
    for (const TensorStatistics& tensor : state.kept->data.tensors)
        if (tensor.range().empty() && state.ranges.find(tensor.name))
            warnings.push_back("'" + tensor.name + "' holds no value in any of the "
                + std::to_string(state.kept->data.feeds) + " samples, so its scale is 1");
}

/// Nodes that graph preparation excluded, not the user.
void nameKeepingPass(const std::vector<PassReport>& reports, std::vector<LeftInFloat>& left)
{
    for (const PassReport& report : reports)
        for (LeftInFloat& node : left)
            if (node.reason.cause == FloatCause::Excluded
                && std::ranges::find(report.keepFloat, node.node) != report.keepFloat.end())
                node.reason.text
                    = "graph preparation keeps it (" + report.pass + "): in 8 bits it costs more than it saves";
}

Result<Quantization> quantizeSteps(const QuantizeInputs& inputs, const WorkContext& work)
{
    Stopwatch clock;
    QS_TRY(PreparedModel prepared, preparedModel(inputs));
    const GraphPreparation& preparation = inputs.recipe.preparation;
    const bool correct = asksForCorrections(inputs.recipe);
    const bool fixed = !preparation.fixedInputs.empty() || !preparation.fixedShapes.empty();
    const bool changed = prepared.changed(inputs.model->graph) || fixed || correct || inputs.model->hasFunctions;
    bool raised = false;
    const std::vector<std::string> gone = excludedAndGone(inputs, prepared.draft);
    QS_TRY(FloatState state, readyState(inputs, prepared, &raised));
    const double prepareMs = clock.lap();
    const auto blocks = std::make_shared<ReadyBlocks>();
    QuantizerHelp help;
    help.constants = correct ? nullptr : prepared.constants; // corrections make other constants of them
    QS_TRY(help.kept, recipeCodes(inputs));
    const CorrectionHooks hooks { [&](FloatState& s) { return findRanges(inputs, s, work); },
        [&](const FloatState& s, const Recipe& by) { return quantized(inputs, s, by, help, *blocks, work); } };
    std::vector<CorrectionReport> corrections;
    if (correct) {
        QS_TRY(corrections, correctModel(state, inputs, hooks, work));
    } else {
        QS_CHECK(hooks.findRanges(state));
    }
    const bool calibrated = state.kept != nullptr;
    if (!state.kept && before(inputs, state)) // a recipe that calibrates again may follow
        state.kept = inputs.earlier->kept;
    const double calibrateMs = clock.lap();
    if (work.cancel.cancelled())
        return cancelled();
    QS_TRY(QuantizedDraft quantized, hooks.quantize(state, state.recipe));
    for (const std::string& name : gone)
        quantized.warnings.push_back("'" + name + "' is excluded, but preparation took it away");
    warnOfEmptyTensors(state, quantized.warnings);
    warnOfNewCodes(inputs.recipe.codes, quantized.codes, quantized.warnings);
    QS_CHECK(warnOfBranches(inputs, state, quantized.warnings));
    for (const CorrectionReport& report : corrections)
        for (const std::string& note : report.notes)
            quantized.warnings.push_back(report.name + ": " + note);
    nameKeepingPass(prepared.reports, quantized.left);
    const bool chosen = needsBlocks(state.recipe);
    return Quantization { std::move(quantized.draft), std::move(state.draft), changed || raised,
        std::move(state.recipe), std::move(corrections), std::move(state.ranges), std::move(state.kept), calibrated,
        std::move(quantized.warnings), std::move(quantized.left), prepareMs, calibrateMs, clock.lap(),
        std::move(prepared.reports), chosen ? blocks : nullptr,
        correct || raised ? std::nullopt : std::optional(inputs.recipe.preparation), std::move(prepared.constants),
        help.kept, std::move(quantized.codes) };
}

} // namespace

Result<Quantization> quantizeModel(const QuantizeInputs& inputs, const WorkContext& work)
{
    beginLongWork("quantize");
    if (work.memoryLimit > 0) // preparing looks at all constants
        QS_CHECK(checkConstants(*inputs.model, work.memoryLimit));
    auto made = quantizeSteps(inputs, work);
    if (made)
        return made;
    if (work.cancel.cancelled()) // where it stopped is nobody's concern
        return cancelled();
    Issue issue = std::move(made).issue();
    if (issue.file.empty() && issue.kind == IssueKind::BadInput)
        issue.file = inputs.model->path;
    return issue;
}

} // namespace qs
