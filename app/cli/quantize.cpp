// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"
#include "app/cli/options/calibration_shards.h"
#include "app/cli/options/recipe_options.h"

#include "core/base/work/memory.h"
#include "core/onnx/import.h"
#include "core/onnx/write/export.h"
#include "core/project/about/equalized_chains.h"
#include "core/project/files/used_files.h"
#include "core/project/quantize/quantize_model.h"
#include "core/project/quantize/sharded_calibration.h"
#include "core/project/snapshot/quantized_example.h"
#include "core/project/snapshot/samples.h"
#include "core/quant/calibrate/entropy_search.h"
#include "core/quant/ranges/range_files.h"
#include "core/quant/recipe/recipe_edit.h"
#include "core/quant/recipe/recipe_json.h"
#include "core/quant/write/ort_script.h"
#include "core/quant/write/quantizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

namespace qs::cli {

namespace {

struct QuantizeCommand {
    std::string floatPath, out, like, ranges, saveRanges, saveRecipe, script;
    RecipeOptions recipe;
    DataOptions data;
    CalibrationShards shards;
};

nlohmann::ordered_json preparationJson(const Quantization& made)
{
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const PassReport& report : made.preparation)
        all.push_back({ { "pass", report.pass }, { "changes", report.changes }, { "kept_float", report.keepFloat } });
    return all;
}

/// "prepared: fold_constants 12, fuse_gelu 0 (14 nodes stay float)"; empty where nothing was done.
std::string preparationLine(const Quantization& made)
{
    std::string line;
    for (const PassReport& report : made.preparation) {
        if (report.changes == 0 && report.keepFloat.empty())
            continue;
        line += fmt::format("{}{} {}", line.empty() ? "prepared: " : ", ", report.pass, report.changes);
        if (!report.keepFloat.empty())
            line += fmt::format(" ({} nodes stay float)", report.keepFloat.size());
    }
    return line.empty() ? line : line + "\n";
}

/// Whether the calibration cache was of use; empty without one.
std::string cacheLine(const QuantizeCommand& o, const Quantization& made)
{
    if (o.recipe.calibrationCache.empty() || !made.kept)
        return {};
    return fmt::format(
        "{}: calibration {}\n", o.recipe.calibrationCache, made.kept->fromFile ? "read from it" : "written to it");
}

nlohmann::ordered_json correctionsJson(const Quantization& made)
{
    const auto number = [](const std::optional<double>& v) { return v ? nlohmann::ordered_json(*v) : nullptr; };
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const CorrectionReport& report : made.corrections)
        all.push_back({ { "name", report.name }, { "sqnr_db_before", number(report.before) },
            { "sqnr_db_after", number(report.after) }, { "changes", report.changes }, { "notes", report.notes },
            { "time_ms", report.ms } });
    return all;
}

std::string summaryJson(const QuantizeCommand& o, const ChosenRecipe& chosen, const Quantization& made)
{
    nlohmann::ordered_json json = { { "schema_version", 1 }, { "path", o.out }, { "float", o.floatPath },
        { "recipe", chosen.start }, { "format", nameIn(kRecipeFormats, chosen.recipe.format) },
        { "nodes", made.draft.nodes.size() }, { "ranges", made.ranges.tensors.size() },
        { "time_ms",
            { { "prepare", made.prepareMs }, { "calibrate", made.calibrateMs }, { "quantize", made.quantizeMs } } },
        { "calibration_cache_used", made.kept && made.kept->fromFile }, { "preparation", preparationJson(made) },
        { "corrections", correctionsJson(made) }, { "peak_memory_bytes", peakMemoryBytes() },
        { "warnings", made.warnings } };
    return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

/// Quantizing always adds constants, or changes subgraphs.
bool quantizesAnything(const Quantization& made)
{
    return made.draft.constants() != made.prepared.constants()
        || std::ranges::any_of(made.draft.nodes, &DraftNode::attributesChanged);
}

std::string scriptedModel(const QuantizeCommand& o) { return o.script + ".float.onnx"; }

FileRoles filesOfQuantize(const QuantizeCommand& o, const CommonOptions& common)
{
    FileRoles files;
    addFilesOf(files, common);
    addFilesOf(files, o.data);
    addFilesOf(files, o.recipe);
    addFilesOf(files, o.shards);
    files.reads(o.floatPath, "the float model");
    files.reads(o.like, "the example");
    files.reads(o.ranges, "the ranges to take");
    files.writes(o.out, "the quantized model");
    if (!o.out.empty())
        for (const std::string& path : filesBeside(o.out))
            files.writesBeside(path, "what belongs to the quantized model");
    files.writes(o.saveRecipe, "the recipe");
    files.writes(o.saveRanges, "the file of ranges");
    files.writes(o.script, "the script");
    if (o.script.empty())
        return files;
    files.writesBeside(scriptedModel(o), "the model that the script starts from");
    for (const std::string& path : filesBeside(scriptedModel(o)))
        files.writesBeside(path, "what belongs to the model that the script starts from");
    return files;
}

/// The recipe that --like's file was made with, and its ranges.
Result<ChosenRecipe> likeExample(const QuantizeCommand& o, const std::shared_ptr<const Model>& example,
    const Context& context, QuantizeInputs& inputs)
{
    FileRoles files = filesOfQuantize(o, context.common);
    addFilesOf(files, *example, "the example");
    QS_CHECK(files.check());
    QS_TRY(ReadBack back, readExample(inputs.model, example));
    const GraphDraft model(inputs.model);
    if (context.common.json != "-" && !context.common.quiet)
        std::cout << o.like << ": " << describeReadBack(back) << "\n";
    for (const std::string& sentence : back.undetermined)
        printWarnings({ o.like + " does not tell: " + sentence }, context.common);
    if (!o.data.given() && o.ranges.empty() && o.recipe.calibrationCache.empty() && o.shards.calibrated.empty()) {
        keepSoftmaxRanges(back, inputs.model->graph);
        inputs.ranges = std::move(back.ranges);
    } else { // those that the recipe has of single tensors are the file's, too
        back.recipe = recalibrated(std::move(back.recipe), model);
    }
    for (const auto& [path, value] : o.recipe.flags) // given for all, also where the file had something else
        back.recipe = withoutOwn(std::move(back.recipe), model, path);
    return ChosenRecipe { std::move(back.recipe), o.like };
}

/// A shard writes its state alone, all others a model.
Status checkShards(const QuantizeCommand& o)
{
    const CalibrationShards& by = o.shards;
    if (!o.ranges.empty() && (by.onePart() || !by.calibrated.empty()))
        return badUse("--ranges says what --shard and --calibrated are to find out", "leave one of them out");
    if (!o.recipe.calibrationCache.empty() && by.onePart())
        return badUse("a calibration cache is of all samples, and --shard takes a part of them",
            "give --calibration-cache with --calibrated, when all shards are done");
    if (!by.onePart())
        return o.out.empty() ? badUse("--out is required", "give -o FILE.onnx") : Status();
    if (by.shard.empty())
        return badUse("--state keeps what a shard found, but there is no --shard", "add --shard I/N");
    if (by.state.empty())
        return badUse("--shard needs a file for what it finds", "add --state F.qcal");
    if (!o.out.empty() || !o.saveRanges.empty() || !o.saveRecipe.empty() || !o.script.empty())
        return badUse("a shard finds a part of the ranges and makes no model: it writes --state alone",
            "leave out --out, --save-ranges, --save-recipe and --script");
    if (!o.data.given())
        return badUse("--shard takes a part of the samples", "give --data");
    QS_CHECK(shardNumber(by.shard));
    return {};
}

/// What is quantized, and how.
struct QuantizeTask {
    ChosenRecipe chosen;
    QuantizeInputs inputs;
    WorkContext work;
    std::vector<std::string> warnings;
    std::shared_ptr<const Model> example; ///< that --like names; null: none
};

/// Options are checked before anything is read, which takes longer.
Result<QuantizeTask> quantizeTask(const QuantizeCommand& o, Context& context)
{
    QuantizeTask task;
    QuantizeInputs& inputs = task.inputs;
    QS_CHECK(checkShards(o));
    QS_TRY(task.chosen, chosenRecipe(o.recipe, o.like.empty() ? std::nullopt : std::optional(ChosenRecipe {})));
    inputs.rangesPath = o.ranges;
    inputs.calibrationCache = o.recipe.calibrationCache;
    QS_CHECK(checkCalibrationCache(o.recipe, o.ranges));
    QS_TRY(task.work, workContext(context));
    QS_TRY(inputs.carry, carryPairs(context.common));
    DataRequest request;
    if (o.data.given()) {
        QS_TRY(request, dataRequest(o.data, context.common));
    }
    FileRoles files = filesOfQuantize(o, context.common);
    addFilesOf(files, task.chosen.recipe, o.floatPath);
    QS_CHECK(checkFiles(files));
    QS_TRY(inputs.model, importModel(o.floatPath, task.work.memoryBytes()));
    addFilesOf(files, *inputs.model, "the float model");
    QS_CHECK(files.check());
    QS_CHECK(checkIsFloat(GraphDraft(inputs.model)));
    if (!o.like.empty()) {
        QS_TRY(task.example, importModel(o.like));
        QS_TRY(const ChosenRecipe example, likeExample(o, task.example, context, inputs));
        QS_TRY(task.chosen, chosenRecipe(o.recipe, example));
        addFilesOf(files, task.chosen.recipe, o.floatPath);
        QS_CHECK(files.check());
    }
    inputs.recipe = task.chosen.recipe;
    task.warnings = inputs.model->warnings;
    task.warnings.insert(task.warnings.end(), task.chosen.warnings.begin(), task.chosen.warnings.end());
    if (!o.ranges.empty() && !o.recipe.tensorCalibrators.empty())
        task.warnings.push_back("--tensor-calibrator has no effect: the ranges come from " + o.ranges);
    if (const CalibratorOptions& by = inputs.recipe.calibration;
        o.ranges.empty() && isStatic(inputs.recipe.format) && by.kind == Calibrator::Entropy && oneCandidate(by))
        task.warnings.push_back(
            fmt::format("entropy chooses among one range, the whole one, as minmax does: the histogram "
                        "has no more bins than {} levels; give more by --bins, such as 2048",
                by.quantizedBins));
    if (o.data.given()) {
        QS_TRY(inputs.data, openDataFor(inputs.model->graph, request, inputs.carry));
        task.warnings.insert(task.warnings.end(), inputs.data->warnings().begin(), inputs.data->warnings().end());
    }
    return task;
}

Status stageDraft(std::vector<AtomicFile>& files, const std::string& path, const GraphDraft& draft)
{
    QS_TRY(std::vector<AtomicFile> staged, stageModel(draft, path));
    std::ranges::move(staged, std::back_inserter(files));
    return {};
}

/// The Python script; where preparation changed the graph, it starts from the prepared model.
Status stageScript(
    const QuantizeCommand& o, const Quantization& made, const CommonOptions& common, std::vector<AtomicFile>& files)
{
    if (o.script.empty())
        return {};
    const std::string start = made.preparationChanged ? scriptedModel(o) : o.floatPath;
    QS_TRY(const OrtScript script,
        ortScript(made.prepared, made.recipe, made.ranges, { o.script, start, o.out, needsExternalData(made.draft) }));
    for (const std::string& note : script.notes)
        printWarnings({ o.script + ": " + note }, common);
    QS_CHECK(stage(files, o.script, script.text));
    return made.preparationChanged ? stageDraft(files, start, made.prepared) : Status();
}

Status writeResults(
    const QuantizeCommand& o, const QuantizeTask& task, const Quantization& made, const Context& context)
{
    std::vector<AtomicFile> files;
    QS_CHECK(stage(files, o.saveRecipe, recipeToJson(task.chosen.recipe)));
    if (!o.saveRanges.empty()) {
        const RangeFormat format = rangeFormatOf(o.saveRanges);
        QS_TRY(const std::string ranges, formatRanges(made.ranges, format));
        QS_CHECK(format == RangeFormat::FlatBuffers ? stageBytes(files, o.saveRanges, ranges)
                                                    : stage(files, o.saveRanges, ranges));
    }
    QS_CHECK(stageScript(o, made, context.common, files));
    if (context.cancel.cancelled())
        return cancelled();
    QS_CHECK(stageDraft(files, o.out, made.draft));
    QS_CHECK(unchanged(filesOf(*task.inputs.model)));
    return AtomicFile::commitAll(files);
}

void printSummary(const QuantizeCommand& o, const ChosenRecipe& chosen, const Quantization& made)
{
    std::cout << preparationLine(made) << cacheLine(o, made);
    for (const CorrectionReport& report : made.corrections)
        std::cout << correctionLine(report) << "\n";
    if (!o.saveRanges.empty())
        std::cout << fmt::format("{}: {} ranges as {}\n", o.saveRanges, made.ranges.tensors.size(),
            rangeFormatText(rangeFormatOf(o.saveRanges)));
    std::cout << fmt::format("{}: {} nodes, {} by recipe {}\n", o.out, made.draft.nodes.size(),
        nameIn(kRecipeFormats, chosen.recipe.format), chosen.start);
}

/// What changes beside --like leaves of the file's layers.
Status checkLayers(const QuantizeTask& task, const Quantization& made)
{
    const auto& wanted = task.chosen.recipe.codes.constants;
    const auto isKept = [&](const auto& entry) { return made.codes.kept.contains(entry.first); };
    if (!task.example || std::ranges::all_of(wanted, isKept) || std::ranges::none_of(wanted, isKept))
        return {};
    return checkChains(equalizedChains(task.inputs.model, task.example), task.chosen.recipe.codes, made.codes);
}

Result<int> quantize(const QuantizeCommand& o, Context& context)
{
    QS_TRY(QuantizeTask task, quantizeTask(o, context));
    if (o.shards.onePart()) {
        QS_TRY(const Shard shard, shardNumber(o.shards.shard));
        QS_CHECK(writePart(o.shards, shard, task.inputs, task.warnings, task.work, context.common));
        return int(kDone);
    }
    if (!o.shards.calibrated.empty())
        QS_CHECK(takeCalibration(task.inputs, o.shards.calibrated, task.work));
    const auto quantized = quantizeModel(task.inputs, task.work);
    if (!quantized)
        return blamedOnData(quantized.issue(), task.inputs.model->graph, o.data.data);
    const Quantization& made = *quantized;
    QS_CHECK(checkLayers(task, made));
    task.warnings.insert(task.warnings.end(), made.warnings.begin(), made.warnings.end());
    if (!quantizesAnything(made))
        task.warnings.push_back("the recipe quantizes nothing of this model");
    clearProgress(context.common);
    printWarnings(task.warnings, context.common);
    QS_CHECK(writeResults(o, task, made, context));
    if (!context.common.json.empty())
        QS_CHECK(writeOutput(context.common.json, summaryJson(o, task.chosen, made)));
    if (context.common.json != "-" && !context.common.quiet)
        printSummary(o, task.chosen, made);
    return int(kDone);
}

} // namespace

Command addQuantize(CLI::App& app, Context& context)
{
    auto o = std::make_shared<QuantizeCommand>();
    app.add_option("FLOAT", o->floatPath, "float model")->required();
    app.add_option("-o,--out", o->out, "ONNX file to write");
    app.add_option("--like", o->like,
        "start from the recipe and ranges that this quantized file was made with; --data or --ranges give others");
    addRecipeOptions(app, o->recipe);
    app.add_option("--ranges", o->ranges,
        "take ranges of activations from ONNX Runtime's calibration cache or a calibration table, not from data");
    app.add_option("--save-ranges", o->saveRanges,
        "write the ranges: .flatbuffers and .cache for TensorRT, else ONNX Runtime's calibration cache (JSON)");
    app.add_option("--script", o->script, "also write a Python script that makes the same file with ONNX Runtime");
    app.add_option("--save-recipe", o->saveRecipe, "write the recipe with what the options changed");
    addCalibrationShards(app, o->shards);
    addDataOptions(app, o->data, DataNeed::Optional);
    addCommonOptions(app, context.common);
    return [o](Context& c) { return quantize(*o, c); };
}

} // namespace qs::cli
