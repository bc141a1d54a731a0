// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/text/caches_table.h"

#include "core/report/format.h"
#include "core/report/text/text_table.h"

namespace qs {

namespace {

constexpr size_t kOutliersNamed = 8;

std::string_view kindWords(CacheKind kind)
{
    return kind == CacheKind::Key ? "keys" : kind == CacheKind::Value ? "values" : "keys before rotary";
}

std::string spanText(const ValueSpan& span)
{
    return span.empty() ? "-" : text::range(std::pair(double(span.low), double(span.high)));
}

void addErrors(const CodingErrors& errors, std::vector<std::string>& cells)
{
    for (const CacheBits bits : kCacheBits)
        for (const CacheScales scales : kCacheScales) {
            const CodingError& error = errorOf(errors, bits, scales);
            cells.push_back(text::decibel(error.sqnrDb, error.exact));
        }
}

std::string outlierLines(const CacheReport& found, bool verbose)
{
    std::string lines;
    for (const CacheRow& row : found.rows) {
        if (row.outliers.empty())
            continue;
        lines += "  layer " + std::to_string(row.layer) + " " + std::string(kindWords(row.kind)) + ":";
        const size_t shown = verbose ? row.outliers.size() : std::min(row.outliers.size(), kOutliersNamed);
        for (size_t i = 0; i < shown; ++i)
            lines += (i ? ", " : " ") + std::to_string(row.outliers[i].channel / row.size) + "/"
                + std::to_string(row.outliers[i].channel % row.size) + " (" + text::number(row.outliers[i].ratio)
                + "x)";
        lines += shown < row.outliers.size() ? ", ...\n" : "\n";
    }
    return lines;
}

} // namespace

std::string cachesTable(const CachesReport& report, const ReportInfo& info)
{
    const CacheReport& found = report.found;
    std::string out = text::fileName(report.snapshot.inputs.floatPath) + ": " + text::counted(found.prompts, "prompt")
        + ", scales by " + (found.choice == ScaleChoice::LeastError ? "least squared error" : "largest magnitude")
        + (found.anyPosition ? ", of keys for any position" : "") + "\n\n";
    TextTable table({ { "layer" }, { "of", TextTable::Align::Left }, { "head" }, { "positions" }, { "range" },
        { "outliers" }, { "int8 tensor" }, { "channel" }, { "token" }, { "int4 tensor" }, { "channel" }, { "token" } });
    for (const CacheRow& row : found.rows) {
        std::vector<std::string> cells { std::to_string(row.layer), std::string(kindWords(row.kind)), "all",
            text::count(row.positions), spanText(row.range), text::count(row.outliers.size()) };
        addErrors(row.errors, cells);
        table.add(std::move(cells));
        for (size_t h = 0; info.verbose && h < row.heads.size(); ++h) {
            std::vector<std::string> ofHead { "", "", std::to_string(h), "", spanText(row.heads[h].range),
                text::count(row.heads[h].outliers) };
            addErrors(row.heads[h].errors, ofHead);
            table.add(std::move(ofHead));
        }
    }
    out += table.text("  ");
    out += "\nSQNR in dB of codes with a scale for the whole tensor, for each channel, for each position\n";
    if (const std::string lines = outlierLines(found, info.verbose); !lines.empty())
        out += "\noutlier channels, head/channel (largest magnitude against the median of the channels)\n" + lines;
    for (const LeftOutCache& cache : found.leftOut)
        out += "left out: " + printable(cache.name) + ": " + cache.reason + "\n";
    if (!info.verbose)
        out += "--verbose adds the heads\n";
    return out;
}

} // namespace qs
