// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/html/html_files.h"
#include "core/report/format.h"
#include "core/report/html/html_cells.h"
#include "core/report/html/html_parts.h"
#include "core/report/text/files_table.h"

namespace qs::html {

std::string filesTable(const std::vector<FileFacts>& files)
{
    std::string out = openTable("files",
        { { "model", "float, or a quantized one", false }, { "size", "of the file, external data included" },
            { "parameters", "elements of float or dequantized constants" },
            { "MACs", "multiply-accumulates of one run" },
            { "on codes", "share of the multiply-accumulates whose factors are both codes" },
            { "output SQNR dB", "of the worst output" },
            { "top-1 agreement", "share of samples with the float model's class; of the worst output" },
            { "accuracy", "share of samples with the right class" },
            { "time of a run", "measured turn by turn by this program's engine on this machine", false },
            { "file", "where it lies", false } });
    for (const FileFacts& f : files)
        out += "<tr>" + textCell(text::fileRole(f))
            + numberCell(f.bytes ? text::bytes(*f.bytes) : "-", f.bytes ? Number(double(*f.bytes)) : Number())
            + numberCell(text::count(uint64_t(f.parameters)), double(f.parameters))
            + numberCell(f.macs ? text::count(uint64_t(*f.macs)) : "-", f.macs ? Number(double(*f.macs)) : Number())
            + share(f.codeShare) + decibels(f.outputSqnrDb, f.exact) + share(f.top1Agreement) + share(f.accuracy)
            + textCell(text::runTime(f)) + textCell(f.path.empty() ? "by the recipe" : f.path, "name") + "</tr>\n";
    return out + closeTable();
}

std::string elementsTable(const ElementDifferences& found)
{
    std::string out = "<p>" + escaped(text::elementsVerdict(found)) + "</p>"
        + openTable("elements",
            { { "value", "name in the float file", false }, { "elements", "compared over all samples" },
                { "beyond", "share of the elements beyond the tolerance" },
                { "largest difference", "of finite elements" },
                { "first beyond", "sample, place, and both elements", false } });
    for (const size_t i : text::mostBeyondFirst(found)) {
        const ElementRow& row = found.rows[i];
        out += "<tr>" + textCell(row.name + (row.output ? " (output)" : ""), "name")
            + numberCell(text::count(row.elements), double(row.elements)) + share(row.share()) + plain(row.largest)
            + textCell(text::elementPlace(row)) + "</tr>\n";
    }
    return out + closeTable();
}

} // namespace qs::html
