// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"
#include "app/cli/comparison_output.h"

#include "core/base/files/atomic_file.h"
#include "core/project/files/used_files.h"
#include "core/project/shards/shards.h"
#include "core/quant/calibrate/calibration_parts.h"

#include <filesystem>
#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

namespace qs::cli {

namespace {

struct MergeCommand {
    std::vector<std::string> states;
    std::string state;
    ComparisonOutput output;
};

bool asksForResults(const ComparisonOutput& o)
{
    const GateOptions& gates = o.gates;
    return !o.csv.empty() || !o.html.empty() || !o.junit.empty() || !o.sarif.empty() || !o.markdown.empty()
        || !gates.file.empty() || gates.minSqnrDb || gates.maxAccuracyDrop || gates.minTop1;
}

FileRoles statesOf(const MergeCommand& o)
{
    FileRoles files;
    for (const std::string& state : o.states)
        files.reads(state, "the state of a shard");
    return files;
}

/// A file of another kind is left as it is: which model and data these states are of, they do not say.
Status addUpCalibrations(const MergeCommand& o)
{
    std::error_code none;
    if (std::filesystem::exists(o.state, none)) {
        QS_TRY(const bool isOurs, isCalibrationPart(o.state));
        if (!isOurs)
            return badInput(
                "holds no state of a calibration, so it is not overwritten", o.state, "give another file for --state");
    }
    QS_TRY(const CalibrationPart sum, addNeighbours(o.states));
    return writeFile(o.state, calibrationPartBytes(sum));
}

Status addUpComparisons(const MergeCommand& o, FileRoles& files, const WorkContext& work)
{
    QS_TRY(const ShardSum sum, sumShards(o.states, work));
    for (const SnapshotPtr& s : sum.snapshots)
        addFilesOf(files, *s);
    QS_CHECK(files.check());
    return writeFile(o.state, sum.bytes);
}

/// One state file of all these.
Result<int> addUp(const MergeCommand& o, bool calibrations, Context& context)
{
    if (asksForResults(o.output))
        return badUse("--state writes a sum of shards, not results", "leave out reports and limits, or --state");
    FileRoles files = statesOf(o);
    files.writes(o.state, "the sum of the shards");
    addFilesOf(files, context.common);
    QS_CHECK(checkFiles(files));
    QS_TRY(const WorkContext work, workContext(context));
    QS_CHECK(calibrations ? addUpCalibrations(o) : addUpComparisons(o, files, work));
    clearProgress(context.common);
    const nlohmann::ordered_json json = { { "schema_version", 1 }, { "state", o.state }, { "files", o.states.size() } };
    if (!context.common.json.empty())
        QS_CHECK(writeOutput(
            context.common.json, json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n"));
    if (context.common.json != "-" && !context.common.quiet)
        std::cout << fmt::format("{}: the sum of {} files\n", o.state, o.states.size());
    return int(kDone);
}

Result<int> merge(const MergeCommand& o, Context& context)
{
    QS_TRY(const bool calibrations, isCalibrationPart(o.states.front()));
    if (!o.state.empty())
        return addUp(o, calibrations, context);
    if (calibrations)
        return badUse("state files of a calibration are used by `quantize --calibrated`",
            "give --state F.qcal to add up neighbouring shards");
    QS_TRY(const Gates gates, gatesOf(o.output.gates));
    QS_TRY(const WorkContext work, workContext(context));
    FileRoles files = statesOf(o);
    addFilesOf(files, o.output);
    addFilesOf(files, gates);
    addFilesOf(files, context.common);
    QS_CHECK(checkFiles(files));
    QS_TRY(const auto snapshots, mergeShards(o.states, work));
    for (const SnapshotPtr& s : snapshots)
        addFilesOf(files, *s);
    QS_CHECK(files.check());
    clearProgress(context.common);
    for (const SnapshotPtr& s : snapshots)
        printWarnings(s->warnings, context.common);
    return writeComparison(snapshots, o.output, gates, context);
}

} // namespace

Command addMerge(CLI::App& app, Context& context)
{
    auto o = std::make_shared<MergeCommand>();
    app.add_option("STATE", o->states, "state files of all shards of one comparison, in any order")->required();
    app.add_option("--state", o->state,
        "write the sum of these neighbouring shards, of a comparison or of one round of a calibration, as a state "
        "file");
    addResultOptions(app, context.common);
    addComparisonOutput(app, o->output);
    app.footer(
        "Shards are made by `compare FLOAT QUANT --data D --shard I/N --state F.qstate`, I = 1..N, on any "
        "machines that see the same files. The result equals one run over all samples in every bit. With --state "
        "a few neighbours become one file, which merges as they would: many shards are summed as a tree.");
    return [o](Context& c) { return merge(*o, c); };
}

} // namespace qs::cli
