// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/comparison_output.h"

#include "core/base/work/memory.h"
#include "core/base/work/stopwatch.h"
#include "core/project/files/used_files.h"
#include "core/project/snapshot/build_snapshot.h"
#include "core/project/snapshot/comparing.h"
#include "core/report/report.h"

#include <iostream>

namespace qs::cli {

namespace {

/// Writes all files or none: every text is complete before the first rename.
Status writeAll(const std::vector<std::pair<std::string, std::string>>& files)
{
    std::vector<AtomicFile> open;
    for (const auto& [path, text] : files)
        if (path != "-")
            QS_CHECK(stage(open, path, text));
    QS_CHECK(AtomicFile::commitAll(open));
    for (const auto& [path, text] : files)
        if (path == "-")
            QS_CHECK(writeOutput(path, text));
    return {};
}

} // namespace

void addComparisonOutput(CLI::App& command, ComparisonOutput& o)
{
    command.add_option("--csv", o.csv, "write all rows as CSV");
    command.add_option("--html", o.html, "write a self-contained report");
    addGates(command, o.gates);
}

void addFilesOf(FileRoles& files, const ComparisonOutput& o)
{
    files.writes(o.csv, "the CSV result");
    files.writes(o.html, "the HTML report");
}

Status checkComparisonOutput(const ComparisonOutput& o) { return checkGates(o.gates); }

Result<int> writeComparison(
    const std::vector<SnapshotPtr>& snapshots, const ComparisonOutput& o, const Context& context, const Asides& asides)
{
    QS_TRY(const auto missed, missedGates(*snapshots.back()->comparison, o.gates));
    QS_TRY(const WorkContext work, workContext(context));
    Snapshot timed = *snapshots.back();
    const Stopwatch watch;
    ReportInfo info { peakMemoryBytes(), context.common.verbose,
        snapshots.size() > 1 ? snapshots.front().get() : nullptr };
    info.ladder = asides.ladder ? &*asides.ladder : nullptr;
    info.elements = asides.elements ? &*asides.elements : nullptr;
    info.saturationLab = asides.saturation ? &*asides.saturation : nullptr;
    std::vector<const Snapshot*> shown;
    for (const SnapshotPtr& s : snapshots)
        shown.push_back(s.get());
    std::vector<FileFacts> facts = fileFacts(shown);
    if (asides.timedRuns > 0)
        QS_CHECK(measureTimes(facts, shown, asides.timedRuns, work));
    clearProgress(context.common);
    info.files = &facts;
    std::vector<WeightLaboratory> laboratories;
    if (!o.html.empty() || !context.common.json.empty()) {
        for (const SnapshotPtr& s : snapshots)
            laboratories.push_back(weightLaboratory(
                foldedConstantsOf(*s), s->floatModel->model, s->comparison->weights, work.threadCount()));
        info.laboratory = &laboratories.back();
        info.otherLaboratory = &laboratories.front();
    }
    std::vector<std::pair<std::string, std::string>> files;
    if (!o.csv.empty())
        files.emplace_back(o.csv, compareCsv(timed));
    if (!o.html.empty())
        files.emplace_back(o.html, compareHtml(timed, info));
    timed.timing.reportMs = watch.ms();
    if (!context.common.json.empty())
        files.emplace_back(context.common.json, compareJson(timed, info));
    if (context.cancel.cancelled())
        return cancelled();
    for (const SnapshotPtr& s : snapshots)
        QS_CHECK(unchanged(*s));
    const bool toStdout = context.common.json == "-" || o.csv == "-" || o.html == "-";
    QS_CHECK(writeAll(files));
    if (!toStdout)
        std::cout << compareTable(timed, info);
    QS_CHECK(stdoutWritten());
    return tellGates(missed, toStdout);
}

} // namespace qs::cli
