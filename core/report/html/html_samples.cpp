// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/format.h"
#include "core/report/html/html_cells.h"
#include "core/report/html/html_parts.h"

#include <algorithm>
#include <cmath>
#include <numeric>

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

/// Samples with another class first, then by SQNR, lowest first.
std::vector<size_t> tellingOrder(const Comparison& c)
{
    const auto& db = c.outputs.front().sampleSqnrDb;
    std::vector<size_t> order(db.size());
    std::iota(order.begin(), order.end(), size_t(0));
    const auto flipped = [&](size_t s) { return s < c.floatClass.size() && c.floatClass[s] != c.quantClass[s]; };
    std::ranges::stable_sort(order, [&](size_t a, size_t b) {
        return flipped(a) != flipped(b) ? flipped(a) : db[a].value_or(HUGE_VAL) < db[b].value_or(HUGE_VAL);
    });
    return order;
}

std::string sampleTable(const Snapshot& s)
{
    const Comparison& c = *s.comparison;
    if (c.outputs.empty() || c.outputs.front().sampleSqnrDb.empty())
        return {};
    const auto order = tellingOrder(c);
    const bool classes = !c.floatClass.empty();
    std::string out = "<h3>" + escaped(text::counted(c.flipped.size(), "sample"))
        + " with another class; these come first</h3>"
        + openTable("samples",
            { { "sample", "number, from 0", true }, { "name", "file or number", false },
                { "label", "class that the data give" }, { "float class", "largest element of the first output" },
                { "quantized class", "largest element of the first output" },
                { "float margin", "of the float model's class over the next best" },
                { "quantized margin", "of the float model's class over the next best, in the quantized model" },
                { "output dB", "SQNR of the first output" } });
    for (size_t i = 0; i < std::min(order.size(), kMostSamples); ++i) {
        const size_t at = order[i], number = c.firstSample + at;
        const auto whole = [](int64_t v) { return numberCell(std::to_string(v), double(v)); };
        const auto named = [&](int64_t v) { return numberCell(escaped(className(*s.classNames, v)), double(v)); };
        const bool labelled = s.data && number < s.data->labels().size();
        out += "<tr>" + whole(int64_t(number)) + textCell(s.data ? s.data->sampleName(number) : "")
            + (labelled ? named(s.data->labels()[number]) : "<td></td>");
        out += classes
            ? named(c.floatClass[at]) + named(c.quantClass[at]) + plain(c.floatMargin[at]) + plain(c.quantMargin[at])
            : std::string("<td></td><td></td><td></td><td></td>");
        out += decibels(c.outputs.front().sampleSqnrDb[at]) + "</tr>\n";
    }
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
