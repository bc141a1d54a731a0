// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"
#include "app/cli/comparison_output.h"
#include "app/cli/decoding.h"
#include "app/cli/ladder.h"
#include "app/cli/options/recipe_options.h"

#include "core/base/issue_text.h"
#include "core/base/work/memory.h"
#include "core/onnx/write/export.h"
#include "core/project/about/element_check.h"
#include "core/project/about/file_facts.h"
#include "core/project/arithmetic/saturating_node.h"
#include "core/project/files/used_files.h"
#include "core/project/mend/mended_file.h"
#include "core/project/search/tried_remedies.h"
#include "core/project/shards/shards.h"
#include "core/project/snapshot/build_snapshot.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <memory>
#include <set>

namespace qs::cli {

namespace {

/// What the user says of outputs, as given.
struct TaskOptions {
    std::vector<std::string> tasks; ///< OUTPUT=TASK
    BoxThresholds boxes;
};

struct CompareCommand {
    std::string first, second, reference, map, classNames, arithmetic = "simulated", shard, state;
    bool nodeAlone = false;
    std::string ranges;
    RecipeOptions recipe;
    SavedFiles ladder;
    std::string saveMap;
    std::optional<int64_t> tryRemedies;
    std::string saveMended;
    std::optional<int64_t> mend;
    std::optional<double> rtol, atol;
    bool measureTime = false;
    DataOptions data;
    TaskOptions tasks;
    DecodingOptions decoding;
    ComparisonOutput output;
};

std::string allTasks()
{
    std::string list;
    for (const TaskChoice& choice : allTaskChoices())
        list += (list.empty() ? "" : ", ") + taskText(choice);
    return list;
}

void addTaskOptions(CLI::App& app, TaskOptions& options)
{
    std::vector<std::string> words; // behind the output's name
    for (const TaskChoice& choice : allTaskChoices())
        words.push_back("=" + taskText(choice));
    CLI::Option* task = app.add_option("--task", options.tasks,
        "OUTPUT=TASK: what an output of the float model is, where types, operators and names do not tell; it "
        "decides "
        "which numbers follow. TASK is one of "
            + allTasks() + ". May be repeated");
    takesWords(task->allow_extra_args(false), words);
    app.add_option("--box-score", options.boxes.score, "boxes: least confidence (default 0.25)");
    app.add_option("--box-nms", options.boxes.suppression,
        "boxes: IoU with a better one of its class above which a candidate is dropped, where the form leaves that to "
        "others (default 0.45)");
    app.add_option("--box-match", options.boxes.match, "boxes: least IoU of two boxes that are one (default 0.5)");
}

Result<TaskChoices> taskChoices(const TaskOptions& options)
{
    TaskChoices choices;
    choices.boxes = options.boxes;
    if (!options.boxes.valid())
        return badUse("--box-score, --box-nms and --box-match are shares from 0 to 1", "give a number such as 0.5");
    for (const std::string& text : options.tasks) {
        const size_t last = text.rfind('=');
        const auto task = last == std::string::npos ? std::nullopt : taskFromText(text.substr(last + 1));
        if (!task || last == 0)
            return badUse("--task '" + text + "' is not OUTPUT=TASK", "TASK is one of " + allTasks());
        choices.told[text.substr(0, last)] = *task;
    }
    return choices;
}

bool asksForRecipe(const CompareCommand& o) { return o.recipe.any() || !o.ranges.empty(); }

/// The float model, and one or two quantized ones ("" = made by the recipe).
struct Files {
    std::string floatPath;
    std::vector<std::string> quantPaths;
};

Result<Files> filesOf(const CompareCommand& o)
{
    const bool asked = asksForRecipe(o);
    if (!o.reference.empty()) {
        if (o.second.empty())
            return badUse("--reference compares two quantized files, but one is given",
                "give QUANT_A.onnx QUANT_B.onnx --reference FLOAT.onnx");
        if (asked)
            return badUse("two quantized files were given, so recipe options have no meaning", "leave them out");
        return Files { o.reference, { o.first, o.second } };
    }
    if (o.second.empty() && !asked)
        return badUse("compare needs the quantized file too, or a recipe to make it by",
            "give FLOAT.onnx QUANTIZED.onnx, or FLOAT.onnx with --recipe or a recipe option");
    if (!o.second.empty() && asked)
        return badUse("a quantized file was given, so recipe options have no meaning", "leave one of them out");
    return Files { o.first, { o.second } };
}

Result<std::optional<Shard>> shardOf(const CompareCommand& o, const CommonOptions& common)
{
    if (o.shard.empty() && o.state.empty())
        return std::optional<Shard>();
    if (o.shard.empty())
        return badUse("--state keeps what a shard measured, but there is no --shard", "add --shard I/N");
    QS_TRY(const Shard shard, shardNumber(o.shard));
    if (o.state.empty())
        return badUse("--shard needs a file for what it measures", "add --state F.qstate");
    if (!common.carry.empty())
        return badUse("--carry takes samples in order, so they cannot be split by --shard", "leave one of them out");
    return std::optional(shard);
}

Result<Inputs> inputsOf(const CompareCommand& o, const Files& files, const CommonOptions& common)
{
    Inputs inputs;
    inputs.floatPath = files.floatPath;
    inputs.mapPath = o.map;
    inputs.classNamesPath = o.classNames;
    if (asksForRecipe(o)) {
        QS_TRY(ChosenRecipe chosen, chosenRecipe(o.recipe));
        inputs.recipe = std::move(chosen.recipe);
        inputs.recipeWords = o.recipe.words();
        inputs.rangesPath = o.ranges;
        inputs.calibrationCache = o.recipe.calibrationCache;
        QS_CHECK(checkCalibrationCache(o.recipe, o.ranges));
        QS_TRY(inputs.calibration, calibrationRequest(o.recipe, o.ranges, o.data, common));
    }
    inputs.nodeAlone = o.nodeAlone;
    QS_TRY(inputs.shard, shardOf(o, common));
    if (inputs.shard && !inputs.calibration.spec.empty())
        return badUse("a shard's state file does not keep samples for calibration beside its own",
            "quantize with them first, and compare the file");
    inputs.histograms = !o.output.html.empty() || inputs.shard; // nothing else shows them; merge may
    QS_TRY(inputs.profile, arithmeticProfile(o.arithmetic));
    QS_TRY(inputs.data, dataRequest(o.data, common));
    QS_TRY(inputs.threads, threadCount(common));
    QS_TRY(inputs.memoryLimit, memoryLimit(common));
    QS_TRY(inputs.carry, carriedBySamples(o.decoding, common));
    QS_TRY(inputs.tasks, taskChoices(o.tasks));
    return inputs;
}

/// What is asked for beside the comparison has to fit it.
Status checkAsides(const CompareCommand& o, const CommonOptions& common)
{
    if (o.tryRemedies && (*o.tryRemedies < 1 || !o.shard.empty()))
        return badUse("--try-remedies is a number from 1, and not for one shard", "give it to a run over all samples");
    if (o.ladder.any() && (!o.shard.empty() || !common.carry.empty() || !o.reference.empty()))
        return badUse("--framework and --device follow one quantized model over all samples",
            "leave out --shard, --carry and --reference");
    for (const auto& [value, name] : { std::pair(o.rtol, "--rtol"), std::pair(o.atol, "--atol") })
        if (value && !(*value >= 0 && std::isfinite(*value)))
            return badUse(std::string(name) + " is no tolerance", "give a number from 0");
    if ((o.rtol || o.atol || o.measureTime) && !o.shard.empty())
        return badUse("--rtol, --atol and --measure-time are for all samples, not for one shard", "leave out --shard");
    QS_CHECK(checkDecoding(o.decoding, !o.shard.empty()));
    if (o.data.text.empty() && !o.data.tokenizer.empty() && !o.decoding.isFree() && o.decoding.blame.empty())
        return badUse("--tokenizer cuts --text into prompts, or names the tokens of --decode free and --blame",
            "add one of them, or leave --tokenizer out");
    if ((o.rtol || o.atol) && !common.carry.empty())
        return badUse("--rtol and --atol compare samples that do not go on from one another", "leave out --carry");
    return {};
}

/// What is asked for beside the comparison.
/// With remedies that are tried under integer-avx2, and for JSON alone.
Result<std::optional<SaturationLab>> saturationLabOf(
    const CompareCommand& o, const SnapshotPtr& snapshot, const Context& context)
{
    const bool wanted = o.tryRemedies && snapshot->inputs.profile == ArithmeticProfile::IntegerAvx2
        && !context.common.json.empty() && saturatingShare(*snapshot->comparison) > 0;
    if (!wanted)
        return std::optional<SaturationLab>();
    SaturationLab lab;
    QS_TRY(lab.table, arithmeticTable(snapshot, progressBar(context.common), context.cancel));
    auto trials = trySaturationRemedies(snapshot, size_t(*o.tryRemedies), progressBar(context.common), context.cancel);
    clearProgress(context.common);
    if (!trials.ok() && trials.issue().kind == IssueKind::Cancelled)
        return trials.issue();
    if (trials.ok())
        lab.trials = std::move(trials).value();
    else
        printWarnings({ "remedies of saturation were not tried: " + issueText(trials.issue()) }, context.common);
    return std::optional(std::move(lab));
}

Result<Asides> asidesOf(const CompareCommand& o, const std::vector<SnapshotPtr>& snapshots, const Context& context)
{
    Asides asides;
    QS_TRY(asides.ladder, ladderOf(o.ladder, *snapshots.back(), context));
    QS_TRY(asides.saturation, saturationLabOf(o, snapshots.back(), context));
    QS_TRY(asides.blame, blameOf(*snapshots.back(), o.decoding, context));
    if (!o.data.tokenizer.empty()) {
        QS_TRY(asides.words, TokenWords::read(o.data.tokenizer));
    }
    asides.timedRuns = o.measureTime ? kTimedRuns : 0;
    if (!o.rtol && !o.atol)
        return asides;
    const Snapshot* const first = snapshots.size() > 1 ? snapshots.front().get() : nullptr;
    const ElementTolerance tolerance { o.rtol.value_or(0), o.atol.value_or(0) };
    QS_TRY(const WorkContext work, workContext(context));
    QS_TRY(asides.elements, elementDifferences(first, *snapshots.back(), tolerance, work));
    clearProgress(context.common);
    return asides;
}

/// All pairs in the form that --map reads.
std::string mapOf(const Snapshot& s)
{
    ManualLinks links;
    std::set<ValueId> known; // further pairs of its quantizers follow
    for (const ValuePair& pair : s.alignment->values)
        if (known.insert(pair.floatValue).second)
            links.pairs.emplace_back(
                s.floatModel->graph().value(pair.floatValue).name, s.quantModel->graph().value(pair.quantValue).name);
    return manualLinksJson(links);
}

/// What is written is the first remedy unless another one is asked for: which one gained much more.
std::string betterMended(const Comparison& c)
{
    constexpr double kMuchMore = 1; // dB
    const Finding *first = nullptr, *best = nullptr;
    size_t offered = 0, number = 0;
    for (const Finding& f : c.findings) {
        if (!isOffered(f))
            continue;
        ++offered;
        first = first ? first : &f;
        if (!best || *f.measuredGainDb > *best->measuredGainDb) {
            best = &f;
            number = offered;
        }
    }
    if (!first || *best->measuredGainDb < *first->measuredGainDb + kMuchMore)
        return {};
    return fmt::format("the remedy of \"{}\" gained {:.1f} dB, that of \"{}\" {:.1f} dB: --mend {} writes the latter",
        first->title, *first->measuredGainDb, best->title, *best->measuredGainDb, number);
}

Status saveMended(const CompareCommand& o, const SnapshotPtr& tried, const Context& context)
{
    if (o.saveMended.empty())
        return {};
    QS_TRY(const GraphDraft mended, mendedModel(tried, size_t(o.mend.value_or(1)), context.cancel));
    if (const std::string better = o.mend ? std::string() : betterMended(*tried->comparison); !better.empty())
        printWarnings({ o.saveMended + ": " + better }, context.common);
    if (const std::string lacking = lackingParts(tried->quantModel->graph(), mended); !lacking.empty())
        printWarnings({ o.saveMended + ": does not take the place of " + tried->inputs.quantPath
                          + " as it is: it has not " + lacking },
            context.common);
    return exportModel(mended, o.saveMended);
}

FileRoles filesOfCompare(const CompareCommand& o, const Files& files, const Inputs& inputs, const CommonOptions& common)
{
    FileRoles used;
    addFilesOf(used, inputs);
    for (const std::string& path : files.quantPaths)
        used.reads(path, files.quantPaths.size() > 1 ? "a quantized model" : "the quantized model");
    addFilesOf(used, DataRequest { o.ladder.framework, {}, {}, {}, {} }, "what the framework computed");
    addFilesOf(used, DataRequest { o.ladder.device, {}, {}, {}, {} }, "what the device computed");
    addTokenizer(used, o.decoding.tokenizer);
    addFilesOf(used, o.recipe);
    addFilesOf(used, o.output);
    addFilesOf(used, common);
    used.writes(o.state, "the state of the shard");
    used.writes(o.saveMap, "the file of pairs");
    used.writes(o.saveMended, "the mended model");
    if (!o.saveMended.empty())
        for (const std::string& path : filesBeside(o.saveMended))
            used.writesBeside(path, "what belongs to the mended model");
    return used;
}

Result<int> compare(const CompareCommand& o, Context& context)
{
    QS_TRY(const Files files, filesOf(o));
    QS_TRY(const Gates gates, gatesOf(o.output.gates));
    if (!o.saveMended.empty() && !o.tryRemedies)
        return badUse("--save-mended writes the model with a remedy that was tried", "add --try-remedies N");
    if (o.mend && (*o.mend < 1 || o.saveMended.empty()))
        return badUse("--mend is the number of a remedy, from 1, for --save-mended", "give both");
    QS_CHECK(checkAsides(o, context.common));
    QS_TRY(Inputs inputs, inputsOf(o, files, context.common));
    FileRoles used = filesOfCompare(o, files, inputs, context.common);
    addFilesOf(used, gates);
    QS_CHECK(checkFiles(used));
    if (files.quantPaths.size() > 1) // the float model's values serve both
        inputs.activationCache = memoryLimitOrDefault(inputs.memoryLimit) / 4;
    std::vector<SnapshotPtr> snapshots;
    for (const std::string& path : files.quantPaths) {
        inputs.quantPath = path;
        QS_TRY(const SnapshotPtr snapshot,
            buildSnapshot(
                inputs, snapshots.empty() ? nullptr : snapshots.back(), progressBar(context.common), context.cancel));
        clearProgress(context.common);
        printWarnings(snapshot->warnings, context.common);
        snapshots.push_back(snapshot);
        addFilesOf(used, *snapshot);
    }
    QS_CHECK(used.check());
    for (SnapshotPtr& snapshot : snapshots) {
        QS_TRY(snapshot, decoded(snapshot, o.decoding, context));
    }
    if (inputs.shard)
        QS_CHECK(writeShardState(o.state, snapshots));
    if (o.tryRemedies) {
        const auto said = std::ptrdiff_t(snapshots.back()->warnings.size());
        QS_TRY(snapshots.back(),
            withTriedRemedies(snapshots.back(), size_t(*o.tryRemedies), progressBar(context.common), context.cancel));
        clearProgress(context.common);
        const auto& warnings = snapshots.back()->warnings;
        printWarnings({ warnings.begin() + said, warnings.end() }, context.common);
    }
    // What was found is told also where there is nothing to save.
    const Status mended = saveMended(o, snapshots.back(), context);
    if (!o.saveMap.empty())
        QS_CHECK(writeOutput(o.saveMap, mapOf(*snapshots.back())));
    QS_TRY(const Asides asides, asidesOf(o, snapshots, context));
    QS_TRY(const int code, writeComparison(snapshots, o.output, gates, context, asides));
    QS_CHECK(mended);
    return code;
}

} // namespace

Command addCompare(CLI::App& app, Context& context)
{
    auto o = std::make_shared<CompareCommand>();
    o->data.tokensNamed = true;
    app.add_option("FLOAT", o->first, "float model (with --reference: the first quantized file)")->required();
    app.add_option("QUANT", o->second, "its quantized counterpart (with --reference: the second one)");
    app.add_option("--reference", o->reference,
        "float model that two quantized files A B are compared by: what B does "
        "otherwise than A, largest consequence first");
    addRecipeOptions(app, o->recipe);
    addCalibrationData(app, o->recipe);
    app.add_option("--ranges", o->ranges, "without QUANT: take ranges of activations from this file");
    addDataOptions(app, o->data);
    addCommonOptions(app, context.common);
    addComparisonOutput(app, o->output);
    addTaskOptions(app, o->tasks);
    addDecodingOptions(app, o->decoding);
    app.add_option("--map", o->map, "pairs made by hand: {\"pairs\":[{\"float\":\"A\",\"quantized\":\"B\"}]}");
    app.add_option("--class-names", o->classNames,
        "what the classes are called: one name a line, or JSON (default: as the model's metadata or the folders say)");
    app.add_option("--save-map", o->saveMap, "write the pairs that were compared in the form that --map reads");
    addArithmetic(app, o->arithmetic);
    app.add_option("--try-remedies", o->tryRemedies,
        "make each of the first N remedies, in the recipe or in the file itself, and tell what it gains at the output; "
        "what does not help there is not offered. Where causes hide each other, at least 16 more choices are tried");
    app.add_option("--save-mended", o->saveMended,
        "with --try-remedies: write the quantized model with the remedy that is offered first");
    app.add_option("--mend", o->mend, "with --save-mended: the Nth remedy that is offered, in place of the first");
    addLadderOptions(app, o->ladder);
    app.add_option("--rtol", o->rtol,
        "compare both quantized files (without --reference: both files) element by element: one differs where |b - a| "
        "> "
        "atol + rtol * |a|");
    app.add_option("--atol", o->atol, "the same: the part that does not grow with the element (default of both: 0)");
    app.add_flag("--measure-time", o->measureTime,
        "also measure what a run of each model takes in this program's engine: median of some runs, turn by turn");
    app.add_flag("--node-alone,--local", o->nodeAlone,
        "also run each quantized node alone on the float model's values: fills node_sqnr_db (local_sqnr_db is always "
        "there)");
    app.add_option("--shard", o->shard, "I/N: run part I of N of the samples, I from 1; needs --state");
    app.add_option("--state", o->state, "where a shard writes what it measured, for `merge`");
    return [o](Context& c) {
        o->decoding.tokenizer = o->data.tokenizer;
        return compare(*o, c);
    };
}

} // namespace qs::cli
