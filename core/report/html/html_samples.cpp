// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rows/definitions.h"
#include "core/report/format.h"
#include "core/report/html/html_cells.h"
#include "core/report/html/html_parts.h"
#include "core/report/task_text.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

namespace qs::html {

namespace {

constexpr size_t kMostSamples = 200;
constexpr size_t kMostGroups = 10;

std::string momentCells(const std::optional<InputMoments>& m)
{
    if (!m)
        return "<td></td><td></td><td></td>";
    return plain(m->mean) + plain(m->deviation) + "<td>" + shown(text::range(std::pair(m->lowest, m->highest)))
        + "</td>";
}

std::string inputTable(const Comparison& c)
{
    if (c.inputs.empty())
        return {};
    std::string out = openTable("inputs",
        { { "input", "name in the float file; channels of pictures below it", false }, { "mean", "over all samples" },
            { "deviation", "standard deviation over all samples" }, { "range", "smallest and largest value", false },
            { "calibrated", "range that the quantized file gives this input", false },
            { "note", "what does not fit", false } });
    for (const InputRow& row : c.inputs) {
        out += "<tr>" + textCell(row.name, "name") + momentCells(row.all) + "<td>" + shown(text::range(row.calibrated))
            + "</td>" + textCell(row.note) + "</tr>\n";
        for (size_t i = 0; i < row.channels.size(); ++i)
            out += "<tr>" + textCell(row.name + ", channel " + std::to_string(i), "name") + momentCells(row.channels[i])
                + "<td></td><td></td></tr>\n";
    }
    return out + closeTable();
}

std::string coverageText(const Comparison& c)
{
    if (!c.coverage)
        return {};
    const CalibrationCoverage& coverage = *c.coverage;
    std::string out = "<p>" + shown(text::percent(coverage.outside))
        + " of the values lie outside the calibrated ranges (" + text::count(coverage.tensorsOutside) + " of "
        + escaped(text::counted(coverage.tensors, "tensor"));
    if (!coverage.worst.empty())
        out += ", most at " + escaped(coverage.worst) + ": " + shown(text::percent(coverage.worstShare));
    return out + ").</p>\n";
}

std::string growthTable(const Comparison& c)
{
    if (c.rangeGrowth.size() < 2)
        return {};
    std::string out = "<h3>Ranges by number of samples</h3>"
        + openTable("growth",
            { { "samples", "the first ones" },
                { "mean range", "range after these samples over the range after all, mean over the quantized tensors" },
                { "settled", "tensors whose range is within 1 % of that after all samples" } });
    for (const RangeGrowth& g : c.rangeGrowth)
        out += "<tr>" + numberCell(text::count(g.samples), double(g.samples)) + share(g.meanShare)
            + share(g.settledShare) + "</tr>\n";
    return out + closeTable();
}

std::string duplicatesText(const Comparison& c)
{
    if (c.duplicates.empty())
        return {};
    std::string list;
    for (size_t g = 0; g < std::min(c.duplicates.size(), kMostGroups); ++g) {
        std::string group;
        for (const size_t s : c.duplicates[g])
            group += (group.empty() ? "" : " = ") + std::to_string(s);
        list += (g ? ", " : "") + group;
    }
    return "<p>Equal samples: " + escaped(list) + (c.duplicates.size() > kMostGroups ? " ..." : "") + ".</p>\n";
}

/// The output whose task is told sample by sample: the first that has one; null: none has.
const OutputRow* tellingOutput(const Comparison& c)
{
    const auto it = std::ranges::find_if(c.outputs, [](const OutputRow& row) { return !row.task.samples.empty(); });
    return it == c.outputs.end() ? nullptr : &*it;
}

/// Samples that differ first, then by agreement, then by SQNR, lowest first.
std::vector<size_t> tellingOrder(const Comparison& c, const OutputRow* telling)
{
    const auto& db = c.outputs.front().sampleSqnrDb;
    std::vector<size_t> order(db.size());
    std::iota(order.begin(), order.end(), size_t(0));
    const auto key = [&](size_t s) {
        const TaskSample sample
            = telling && s < telling->task.samples.size() ? telling->task.samples[s] : TaskSample {};
        return std::tuple(!sample.differs, sample.agreement.value_or(HUGE_VAL), db[s].value_or(HUGE_VAL));
    };
    std::ranges::stable_sort(order, [&](size_t a, size_t b) { return key(a) < key(b); });
    return order;
}

/// What stands in the table beside names and SQNR.
struct SampleColumns {
    bool classes = false; ///< one a sample
    const TaskRow* task = nullptr; ///< of other kinds; null: none
};

std::vector<Head> sampleHeads(const SampleColumns& columns)
{
    std::vector<Head> heads { { "sample", "number, from 0", true }, { "name", "file or number", false },
        { "label", "class that the data give" } };
    if (columns.classes)
        heads.insert(heads.end(),
            { { "float class", "largest element of the first output" },
                { "quantized class", "largest element of the first output" },
                { "float margin", "of the float model's class over the next best" },
                { "quantized margin", "of the float model's class over the next best, in the quantized model" } });
    if (columns.task)
        heads.insert(
            heads.end(), { { "agreement", definition::kTask.brief }, { "difference", "what is not the same", false } });
    heads.push_back({ "output dB", "SQNR of the first output" });
    return heads;
}

std::string sampleCells(const Snapshot& s, size_t at, const SampleColumns& columns)
{
    const Comparison& c = *s.comparison;
    const size_t number = c.firstSample + at;
    const auto named = [&](int64_t v) { return numberCell(escaped(className(*s.classNames, v)), double(v)); };
    const auto label = s.data ? s.data->label(number) : std::nullopt;
    std::string out = numberCell(std::to_string(number), double(number))
        + textCell(s.data ? s.data->sampleName(number) : "") + (label ? named(*label) : "<td></td>");
    if (columns.classes)
        out += named(c.floatClass[at]) + named(c.quantClass[at]) + plain(c.floatMargin[at]) + plain(c.quantMargin[at]);
    if (columns.task) {
        const TaskSample& sample = columns.task->samples[at];
        out += share(sample.agreement) + textCell(text::sampleDifference(*columns.task, sample));
    }
    return out + decibels(c.outputs.front().sampleSqnrDb[at]);
}

/// What there is to say of differing samples above their table.
std::string differingText(const Comparison& c, const OutputRow* telling)
{
    if (!telling || telling->task.what.kind == TaskKind::Mask)
        return "Samples, worst first";
    const std::string samples = text::counted(telling->task.differing, "sample");
    switch (telling->task.what.kind) {
    case TaskKind::Sequence:
        return samples + " with another class at some position; these come first";
    case TaskKind::Boxes:
        return samples + " with other boxes; these come first";
    default:
        return text::counted(c.flipped.size(), "sample") + " with another class; these come first";
    }
}

std::string sampleTable(const Snapshot& s)
{
    const Comparison& c = *s.comparison;
    if (c.outputs.empty() || c.outputs.front().sampleSqnrDb.empty())
        return {};
    const OutputRow* telling = tellingOutput(c);
    const auto order = tellingOrder(c, telling);
    const bool other
        = telling && telling->task.what.kind != TaskKind::Classes && telling->task.samples.size() == order.size();
    const SampleColumns columns { !c.floatClass.empty(), other ? &telling->task : nullptr };
    std::string out
        = "<h3>" + escaped(differingText(c, telling)) + "</h3>" + openTable("samples", sampleHeads(columns));
    for (size_t i = 0; i < std::min(order.size(), kMostSamples); ++i)
        out += "<tr>" + sampleCells(s, order[i], columns) + "</tr>\n";
    out += closeTable();
    if (order.size() > kMostSamples)
        out += "<p class=\"muted\">" + text::count(kMostSamples) + " of " + text::count(order.size())
            + " samples.</p>\n";
    return out;
}

} // namespace

std::string samplesSection(const Snapshot& s)
{
    const Comparison& c = *s.comparison;
    return inputTable(c) + coverageText(c) + duplicatesText(c) + growthTable(c) + sampleTable(s);
}

} // namespace qs::html
