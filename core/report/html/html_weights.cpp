// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rows/definitions.h"
#include "core/report/format.h"
#include "core/report/html/html_cells.h"
#include "core/report/html/html_parts.h"

#include <algorithm>

namespace qs::html {

namespace {

constexpr size_t kMostBars = 160;
constexpr double kStripHeight = 28;

/// Ranges of the channels side by side; where there are many, a bar shows the widest of a few.
std::string strip(const WeightLab& lab)
{
    const size_t count = lab.channels.size();
    const size_t each = (count + kMostBars - 1) / kMostBars, bars = (count + each - 1) / each;
    double low = 0, high = 0;
    for (const WeightChannel& c : lab.channels) {
        low = std::min(low, c.lowest);
        high = std::max(high, c.highest);
    }
    if (!(high > low))
        return "<td></td>";
    const auto y = [&](double v) { return coordinate((high - v) / (high - low) * kStripHeight); };
    std::string path;
    for (size_t bar = 0; bar < bars; ++bar) {
        double from = 0, to = 0;
        for (size_t c = bar * each; c < std::min(count, (bar + 1) * each); ++c) {
            from = std::min(from, lab.channels[c].lowest);
            to = std::max(to, lab.channels[c].highest);
        }
        path += "M" + coordinate(double(bar) + 0.5) + " " + y(to) + "V" + y(from);
    }
    const std::string width = std::to_string(bars);
    return "<td><svg class=\"strip\" width=\"" + width + "\" height=\"" + coordinate(kStripHeight)
        + "\" role=\"img\" aria-label=\"ranges of " + text::counted(count, "channel") + "\"><path d=\"" + path
        + "\"/><path class=\"zero\" d=\"M0 " + y(0) + "H" + width + "\"/></svg></td>";
}

/// SQNR of the whole, and in the tool tip of the worst channel; empty where it was not tried.
std::string trialCell(const std::vector<WeightTrial>& trials, DType type, bool perChannel)
{
    const auto trial = std::ranges::find_if(
        trials, [&](const WeightTrial& t) { return t.type == type && t.perChannel == perChannel && t.blockSize == 0; });
    return trial == trials.end() ? "<td></td>" : decibels(trial->sqnrDb, trial->exact);
}

std::string equalizedCells(const std::optional<EqualizedTrial>& equalized)
{
    if (!equalized)
        return "<td></td><td></td>";
    return plain(equalized->rangeRatio) + trialCell(equalized->trials, DType::Int8, false);
}

} // namespace

std::string laboratoryTable(const Comparison& c, const WeightLaboratory& laboratory)
{
    std::string out = openTable("laboratory",
        { { "weight", "name in the float file", false }, { "channels", "range of each output channel", false },
            { "as stored dB", "dequantized against float" }, { "range ratio", definition::kRangeRatio.brief },
            { "outliers", "share of the elements beyond half of the largest: without them a bit less would do" },
            { "bulk", "share of the largest magnitude that 99 % of the elements stay below" },
            { "8 tensor dB", "int8, symmetric, one scale" }, { "8 channel dB", "int8, symmetric, a scale a channel" },
            { "8 asym. tensor dB", "uint8 with zero point, one scale" },
            { "8 asym. channel dB", "uint8 with zero point, a scale a channel" },
            { "4 tensor dB", "int4, symmetric, one scale" }, { "4 channel dB", "int4, symmetric, a scale a channel" },
            { "4 asym. tensor dB", "uint4 with zero point, one scale" },
            { "4 asym. channel dB", "uint4 with zero point, a scale a channel" },
            { "equalized ratio", "range ratio after cross-layer equalization" },
            { "equalized 8 tensor dB", "int8, symmetric, one scale, after cross-layer equalization" } });
    for (const size_t i : text::worstFirst(c.weights)) {
        if (i >= laboratory.weights.size() || !laboratory.weights[i])
            continue;
        const WeightLab& lab = *laboratory.weights[i];
        out += "<tr>" + textCell(c.weights[i].name, "name") + strip(lab) + coloured(c.weights[i].similarity)
            + plain(lab.rangeRatio) + share(lab.outlierShare) + share(lab.bulkRange);
        for (const auto& [symmetric, asymmetric] :
            { std::pair { DType::Int8, DType::UInt8 }, std::pair { DType::Int4, DType::UInt4 } })
            for (const DType type : { symmetric, asymmetric })
                out += trialCell(lab.trials, type, false) + trialCell(lab.trials, type, true);
        out += equalizedCells(lab.equalized) + "</tr>\n";
    }
    out += closeTable();
    const EqualizationPreview& preview = laboratory.preview;
    out += "<p class=\"muted\">Cross-layer equalization would bring "
        + escaped(text::counted(preview.pairs, "pair") + " of layers to equal ranges");
    if (!preview.clips.empty())
        out += escaped("; " + text::counted(preview.clips.size(), "Clip") + " between layers stand in the way ("
            + preview.clips.front() + (preview.clips.size() > 1 ? " ...)" : ")"));
    if (!laboratory.note.empty())
        out += escaped("; it failed: " + laboratory.note);
    return out + ".</p>\n";
}

} // namespace qs::html
