// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/comparison_output.h"

#include "core/base/utc_time.h"
#include "core/base/work/memory.h"
#include "core/base/work/stopwatch.h"
#include "core/project/files/used_files.h"
#include "core/project/snapshot/build_snapshot.h"
#include "core/project/snapshot/comparing.h"
#include "core/report/ci/ci_reports.h"
#include "core/report/weight_columns.h"

#include <algorithm>
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

std::vector<std::pair<std::string, std::string>> ciFiles(
    const Snapshot& s, const ComparisonOutput& o, const Judgement& judgement)
{
    std::vector<std::pair<std::string, std::string>> files;
    if (!o.junit.empty())
        files.emplace_back(o.junit, compareJunit(s, judgement, utcTime()));
    if (!o.sarif.empty())
        files.emplace_back(o.sarif, compareSarif(s, judgement));
    if (!o.markdown.empty())
        files.emplace_back(o.markdown, compareMarkdown(s, judgement));
    return files;
}

} // namespace

void addComparisonOutput(CLI::App& command, ComparisonOutput& o)
{
    command.add_option("--csv", o.csv, "write all rows as CSV");
    command.add_option("--html", o.html, "write a self-contained report");
    command.add_option("--junit", o.junit, "write checks of gates, or else findings, as JUnit XML");
    command.add_option("--sarif", o.sarif, "write findings and missed gates as SARIF 2.1.0");
    command.add_option(
        "--markdown", o.markdown, "write a summary in Markdown: verdict, gates, worst tensors, findings");
    addGates(command, o.gates);
}

void addFilesOf(FileRoles& files, const ComparisonOutput& o)
{
    files.writes(o.csv, "the CSV result");
    files.writes(o.html, "the HTML report");
    files.writes(o.junit, "the JUnit result");
    files.writes(o.sarif, "the SARIF result");
    files.writes(o.markdown, "the Markdown summary");
}

Result<int> writeComparison(const std::vector<SnapshotPtr>& snapshots, const ComparisonOutput& o, const Gates& gates,
    const Context& context, const Asides& asides)
{
    QS_TRY(const Judgement judgement, judged(*snapshots.back()->comparison, gates));
    printWarnings(judgement.warnings, context.common);
    QS_TRY(const WorkContext work, workContext(context));
    Snapshot timed = *snapshots.back();
    const Stopwatch watch;
    ReportInfo info { peakMemoryBytes(), context.common.verbose,
        snapshots.size() > 1 ? snapshots.front().get() : nullptr };
    info.ladder = asides.ladder ? &*asides.ladder : nullptr;
    info.elements = asides.elements ? &*asides.elements : nullptr;
    info.blame = asides.blame ? &*asides.blame : nullptr;
    info.words = asides.words ? &*asides.words : nullptr;
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
    if (!o.html.empty() || !o.csv.empty() || !context.common.json.empty()) {
        for (const SnapshotPtr& s : snapshots)
            laboratories.push_back(weightLaboratory(
                foldedConstantsOf(*s), s->floatModel->model, s->comparison->weights, work.threadCount()));
        info.laboratory = &laboratories.back();
        info.otherLaboratory = &laboratories.front();
    }
    std::vector<std::pair<std::string, std::string>> files = ciFiles(timed, o, judgement);
    if (!o.csv.empty())
        files.emplace_back(o.csv, compareCsv(timed, *info.laboratory));
    if (!o.html.empty())
        files.emplace_back(o.html, compareHtml(timed, info));
    timed.timing.reportMs = watch.ms();
    if (!context.common.json.empty())
        files.emplace_back(context.common.json, compareJson(timed, info));
    if (context.cancel.cancelled())
        return cancelled();
    for (const SnapshotPtr& s : snapshots)
        QS_CHECK(unchanged(*s));
    const bool toStdout = std::ranges::any_of(files, [](const auto& file) { return file.first == "-"; });
    QS_CHECK(writeAll(files));
    if (!toStdout)
        std::cout << compareTable(timed, info);
    QS_CHECK(stdoutWritten());
    return tellGates(judgement, toStdout);
}

} // namespace qs::cli
