// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/comparison_output.h"

#include "core/base/files/atomic_file.h"
#include "core/base/work/memory.h"
#include "core/base/work/stopwatch.h"
#include "core/project/snapshot/comparing.h"
#include "core/report/report.h"

#include <algorithm>
#include <cmath>
#include <iostream>

namespace qs::cli {

namespace {

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

} // namespace

void addComparisonOutput(CLI::App& command, ComparisonOutput& o)
{
    command.add_option("--csv", o.csv, "write all rows as CSV");
    command.add_option("--html", o.html, "write a self-contained report");
    command.add_option("--fail-below-sqnr", o.failBelow, "exit 1 when an output is below this, dB");
}

Status checkComparisonOutput(const ComparisonOutput& o)
{
    if (o.failBelow && !std::isfinite(*o.failBelow))
        return badUse("--fail-below-sqnr is no finite number", "give a number of dB");
    return {};
}

Result<int> writeComparison(
    const std::vector<SnapshotPtr>& snapshots, const ComparisonOutput& o, const Context& context, const Ladder* ladder)
{
    Snapshot timed = *snapshots.back();
    const Stopwatch watch;
    ReportInfo info { peakMemoryBytes(), context.common.verbose,
        snapshots.size() > 1 ? snapshots.front().get() : nullptr };
    info.ladder = ladder;
    std::vector<WeightLaboratory> laboratories;
    if (!o.html.empty() || !context.common.json.empty()) {
        QS_TRY(const WorkContext work, workContext(context));
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

} // namespace qs::cli
