// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"
#include "app/cli/recipe_options.h"

#include "core/base/atomic_file.h"
#include "core/project/memory.h"
#include "core/project/workspace.h"
#include "core/report/report.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <memory>

namespace qs::cli {

namespace {

struct CompareCommand {
    std::string floatPath, quantPath, csv, html, map, arithmetic = "simulated";
    bool local = false;
    std::string ranges;
    std::optional<double> failBelow;
    RecipeOptions recipe;
    DataOptions data;
};

/// Writes all files or none: every text is complete before the first rename.
Status writeAll(const std::vector<std::pair<std::string, std::string>>& files)
{
    std::vector<AtomicFile> open;
    open.reserve(files.size());
    for (const auto& [path, text] : files) {
        if (path == "-")
            continue;
        QS_TRY(AtomicFile file, AtomicFile::create(path));
        QS_CHECK(file.write(text));
        open.push_back(std::move(file));
    }
    for (AtomicFile& file : open)
        QS_CHECK(file.commit());
    for (const auto& [path, text] : files)
        if (path == "-")
            QS_CHECK(writeOutput(path, text));
    return {};
}

bool belowThreshold(const Snapshot& s, double db)
{
    return std::ranges::any_of(s.comparison->outputs, [&](const OutputRow& out) {
        return !out.similarity.exact && (!out.similarity.sqnrDb || *out.similarity.sqnrDb < db);
    });
}

Result<int> compare(const CompareCommand& o, Context& context)
{
    const bool asked = o.recipe.any() || !o.ranges.empty();
    if (o.quantPath.empty() && !asked)
        return badUse("compare needs the quantized file too, or a recipe to make it by",
            "give FLOAT.onnx QUANTIZED.onnx, or FLOAT.onnx with --recipe or a recipe option");
    if (!o.quantPath.empty() && asked)
        return badUse("a quantized file was given, so recipe options have no meaning", "leave one of them out");
    if (o.failBelow && !std::isfinite(*o.failBelow))
        return badUse("--fail-below-sqnr is no finite number", "give a number of dB");
    Inputs inputs;
    inputs.floatPath = o.floatPath;
    inputs.quantPath = o.quantPath;
    inputs.mapPath = o.map;
    if (asked) {
        QS_TRY(ChosenRecipe chosen, chosenRecipe(o.recipe));
        inputs.recipe = std::move(chosen.recipe);
        inputs.rangesPath = o.ranges;
    }
    inputs.nodeAlone = o.local;
    inputs.histograms = !o.html.empty(); // nothing else shows them
    QS_TRY(inputs.profile, arithmeticProfile(o.arithmetic));
    QS_TRY(inputs.data, dataRequest(o.data, context.common));
    QS_TRY(inputs.threads, threadCount(context.common));
    QS_TRY(inputs.memoryLimit, memoryLimit(context.common));
    QS_TRY(inputs.carry, carryPairs(context.common));
    QS_CHECK(checkWritable({ context.common.json, o.csv, o.html },
        { o.floatPath, o.quantPath, o.map, o.recipe.file, o.ranges, o.data.data, o.data.preprocess }));
    QS_TRY(const SnapshotPtr snapshot, buildSnapshot(inputs, nullptr, progressBar(context.common), context.cancel));
    clearProgress(context.common);
    printWarnings(snapshot->warnings, context.common);

    Snapshot timed = *snapshot;
    const auto start = std::chrono::steady_clock::now();
    ReportInfo info { peakMemoryBytes(), context.common.verbose };
    std::vector<std::pair<std::string, std::string>> files;
    if (!o.csv.empty())
        files.emplace_back(o.csv, compareCsv(timed));
    if (!o.html.empty())
        files.emplace_back(o.html, compareHtml(timed, info));
    timed.timing.reportMs = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    if (!context.common.json.empty())
        files.emplace_back(context.common.json, compareJson(timed, info));
    if (context.cancel.cancelled())
        return cancelled();
    const bool toStdout = context.common.json == "-" || o.csv == "-" || o.html == "-";
    QS_CHECK(writeAll(files));
    if (!toStdout)
        std::cout << compareTable(timed, info);
    if (o.failBelow && belowThreshold(timed, *o.failBelow)) {
        std::cerr << "error: an output of the quantized model is below the " << *o.failBelow
                  << " dB asked for by --fail-below-sqnr; see the findings\n";
        return int(kThresholdMissed);
    }
    return int(kDone);
}

} // namespace

Command addCompare(CLI::App& app, Context& context)
{
    auto o = std::make_shared<CompareCommand>();
    app.add_option("FLOAT", o->floatPath, "float model")->required();
    app.add_option("QUANT", o->quantPath, "its quantized counterpart");
    addRecipeOptions(app, o->recipe);
    app.add_option("--ranges", o->ranges, "without QUANT: take ranges of activations from this file");
    addDataOptions(app, o->data);
    addCommonOptions(app, context.common);
    app.add_option("--csv", o->csv, "write all rows as CSV");
    app.add_option("--html", o->html, "write a self-contained report");
    app.add_option("--map", o->map, "pairs made by hand: {\"pairs\":[{\"float\":\"A\",\"quantized\":\"B\"}]}");
    app.add_option("--arithmetic", o->arithmetic, kArithmeticHelp);
    app.add_flag("--local", o->local, "also run each quantized node alone on the float model's values");
    app.add_option("--fail-below-sqnr", o->failBelow, "exit 1 when an output is below this, dB");
    return [o](Context& c) { return compare(*o, c); };
}

} // namespace qs::cli
