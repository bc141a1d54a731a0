// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"
#include "app/cli/recipe_options.h"

#include "core/base/files/atomic_file.h"
#include "core/onnx/import.h"
#include "core/onnx/write/export.h"
#include "core/project/memory.h"
#include "core/project/quantize/quantize_model.h"
#include "core/project/snapshot/quantized_example.h"
#include "core/project/snapshot/workspace.h"
#include "core/quant/ranges/range_files.h"
#include "core/quant/recipe/recipe_json.h"
#include "core/quant/write/ort_script.h"
#include "core/quant/write/quantizer.h"

#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

namespace qs::cli {

namespace {

struct QuantizeCommand {
    std::string floatPath, out, like, ranges, saveRanges, saveRecipe, script;
    RecipeOptions recipe;
    DataOptions data;
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

/// The recipe that --like's file was made with, and its ranges.
Result<ChosenRecipe> likeExample(const QuantizeCommand& o, const Context& context, QuantizeInputs& inputs)
{
    QS_TRY(const auto example, importModel(o.like));
    QS_TRY(ReadBack back, readExample(inputs.model, example));
    if (context.common.json != "-" && !context.common.quiet)
        std::cout << o.like << ": " << describeReadBack(back) << "\n";
    for (const std::string& sentence : back.undetermined)
        printWarnings({ o.like + " does not tell: " + sentence }, context.common);
    if (o.data.data.empty() && o.ranges.empty() && o.recipe.calibrationCache.empty())
        inputs.ranges = std::move(back.ranges);
    return ChosenRecipe { std::move(back.recipe), o.like };
}

Result<int> quantize(const QuantizeCommand& o, Context& context)
{
    ChosenRecipe chosen;
    QuantizeInputs inputs;
    if (o.like.empty()) {
        QS_TRY(chosen, chosenRecipe(o.recipe));
    } else {
        QS_CHECK(chosenRecipe(o.recipe, ChosenRecipe {})); // wrong options first
    }
    inputs.rangesPath = o.ranges;
    inputs.calibrationCache = o.recipe.calibrationCache;
    QS_CHECK(checkCalibrationCache(o.recipe, o.ranges));
    QS_TRY(inputs.threads, threadCount(context.common));
    QS_TRY(inputs.memoryLimit, memoryLimit(context.common));
    QS_TRY(inputs.carry, carryPairs(context.common));
    DataRequest request;
    if (!o.data.data.empty()) {
        QS_TRY(request, dataRequest(o.data, context.common));
    }
    QS_CHECK(
        checkWritable({ o.out, o.saveRecipe, o.saveRanges, o.script, o.recipe.calibrationCache, context.common.json },
            { o.floatPath, o.like, o.recipe.file, o.ranges, o.data.data, o.data.preprocess }));
    QS_TRY(inputs.model, importModel(o.floatPath));
    QS_CHECK(checkIsFloat(GraphDraft(inputs.model)));
    if (!o.like.empty()) {
        QS_TRY(const ChosenRecipe example, likeExample(o, context, inputs));
        QS_TRY(chosen, chosenRecipe(o.recipe, example));
    }
    inputs.recipe = chosen.recipe;
    std::vector<std::string> warnings = inputs.model->warnings;
    warnings.insert(warnings.end(), chosen.warnings.begin(), chosen.warnings.end());
    if (!o.ranges.empty() && !o.recipe.tensorCalibrators.empty())
        warnings.push_back("--tensor-calibrator has no effect: the ranges come from " + o.ranges);
    if (!o.data.data.empty()) {
        QS_TRY(inputs.data, openData(request, dataInputs(inputs.model->graph, inputs.carry)));
        warnings.insert(warnings.end(), inputs.data->warnings().begin(), inputs.data->warnings().end());
    }
    QS_TRY(const Quantization made, quantizeModel(inputs, progressBar(context.common), context.cancel));
    warnings.insert(warnings.end(), made.warnings.begin(), made.warnings.end());
    if (!quantizesAnything(made))
        warnings.push_back("the recipe quantizes nothing of this model");
    clearProgress(context.common);
    printWarnings(warnings, context.common);

    // All files are complete before the first takes its name.
    std::vector<AtomicFile> staged;
    const auto write = [&](const std::string& path, const std::string& text) -> Status {
        if (path.empty())
            return {};
        QS_TRY(AtomicFile file, AtomicFile::create(path));
        QS_CHECK(file.write(text));
        staged.push_back(std::move(file));
        return {};
    };
    const auto stage = [&](const GraphDraft& draft, const std::string& path) -> Status {
        QS_TRY(std::vector<AtomicFile> files, stageModel(draft, path));
        for (AtomicFile& file : files)
            staged.push_back(std::move(file));
        return {};
    };
    QS_CHECK(write(o.saveRecipe, recipeToJson(chosen.recipe)));
    if (!o.saveRanges.empty()) {
        QS_TRY(const std::string text, formatRanges(made.ranges, rangeFormatOf(o.saveRanges)));
        QS_CHECK(write(o.saveRanges, text));
    }
    if (!o.script.empty()) {
        // Where preparation changed the graph, the script starts from the prepared model.
        const std::string start = made.preparationChanged ? o.script + ".float.onnx" : o.floatPath;
        QS_TRY(const OrtScript script,
            ortScript(
                made.prepared, made.recipe, made.ranges, { o.script, start, o.out, needsExternalData(made.draft) }));
        for (const std::string& note : script.notes)
            printWarnings({ o.script + ": " + note }, context.common);
        QS_CHECK(write(o.script, script.text));
        if (made.preparationChanged)
            QS_CHECK(stage(made.prepared, start));
    }
    if (context.cancel.cancelled())
        return cancelled();
    QS_CHECK(stage(made.draft, o.out));
    for (AtomicFile& file : staged)
        QS_CHECK(file.commit());
    if (!context.common.json.empty())
        QS_CHECK(writeOutput(context.common.json, summaryJson(o, chosen, made)));
    if (context.common.json != "-" && !context.common.quiet)
        std::cout << preparationLine(made) << cacheLine(o, made);
    if (context.common.json != "-" && !context.common.quiet)
        for (const CorrectionReport& report : made.corrections)
            std::cout << correctionLine(report) << "\n";
    if (context.common.json != "-" && !context.common.quiet)
        std::cout << fmt::format("{}: {} nodes, {} by recipe {}\n", o.out, made.draft.nodes.size(),
            nameIn(kRecipeFormats, chosen.recipe.format), chosen.start);
    return int(kDone);
}

} // namespace

Command addQuantize(CLI::App& app, Context& context)
{
    auto o = std::make_shared<QuantizeCommand>();
    app.add_option("FLOAT", o->floatPath, "float model")->required();
    app.add_option("-o,--out", o->out, "ONNX file to write")->required();
    app.add_option("--like", o->like,
        "start from the recipe and ranges that this quantized file was made with; --data or --ranges give others");
    addRecipeOptions(app, o->recipe);
    app.add_option("--ranges", o->ranges,
        "take ranges of activations from ONNX Runtime's calibration cache or a calibration table, not from data");
    app.add_option("--save-ranges", o->saveRanges, "write the ranges (.json, .flatbuffers or .cache)");
    app.add_option("--script", o->script, "also write a Python script that makes the same file with ONNX Runtime");
    app.add_option("--save-recipe", o->saveRecipe, "write the recipe with what the options changed");
    addDataOptions(app, o->data, DataNeed::Optional);
    addCommonOptions(app, context.common);
    return [o](Context& c) { return quantize(*o, c); };
}

} // namespace qs::cli
