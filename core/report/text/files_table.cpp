// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/text/files_table.h"

#include "core/base/text/distinct_names.h"
#include "core/report/format.h"
#include "core/report/text/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace qs {

namespace {

constexpr size_t kShownElements = 12;
constexpr size_t kFileWidth = 40;

std::string counted(const std::optional<int64_t>& n) { return n ? text::count(uint64_t(*n)) : "-"; }

} // namespace

namespace text {

std::string fileRole(const FileFacts& facts) { return facts.role == "a" ? "A" : facts.role == "b" ? "B" : facts.role; }

std::string runTime(const FileFacts& facts)
{
    if (!facts.time)
        return "-";
    const RunTime& t = *facts.time;
    return number(t.medianMs) + " ms (" + number(t.minMs) + " to " + number(t.maxMs) + ", "
        + text::counted(t.runs, "run") + ", " + text::counted(t.threads, "thread") + ", "
        + (facts.role == "float" ? std::string("float") : std::string(profileName(facts.profile))) + ")";
}

std::string elementsVerdict(const ElementDifferences& found)
{
    const auto apart = size_t(std::ranges::count_if(found.rows, [](const ElementRow& r) { return r.beyond > 0; }));
    const std::string tolerance
        = fmt::format("rtol {:g} and atol {:g}", found.tolerance.relative, found.tolerance.absolute);
    return apart == 0 ? text::counted(found.rows.size(), "value") + ": all elements within " + tolerance
                      : text::count(apart) + " of " + text::counted(found.rows.size(), "value")
            + (apart == 1 ? " has" : " have") + " elements beyond " + tolerance;
}

std::string elementPlace(const ElementRow& row)
{
    if (!row.first)
        return "-";
    return fmt::format("sample {}, [{}]: {:.6g} and {:.6g}", row.first->sample, fmt::join(row.first->at, ", "),
        row.first->a, row.first->b);
}

std::vector<size_t> mostBeyondFirst(const ElementDifferences& found)
{
    std::vector<size_t> order(found.rows.size());
    std::iota(order.begin(), order.end(), size_t(0)); // outputs come first already
    std::ranges::stable_sort(order, std::greater(), [&](size_t i) { return found.rows[i].share(); });
    return order;
}

} // namespace text

std::string filesText(const std::vector<FileFacts>& files)
{
    const bool timed = std::ranges::any_of(files, [](const FileFacts& f) { return f.time.has_value(); });
    std::vector<TextTable::Column> columns { { "model", TextTable::Align::Left }, { "size" }, { "parameters" },
        { "MACs" }, { "on codes" }, { "output SQNR dB" }, { "top-1 agreement" }, { "accuracy" } };
    if (timed)
        columns.push_back({ "time of a run", TextTable::Align::Left });
    columns.push_back({ "file", TextTable::Align::Left, kFileWidth });
    TextTable table(std::move(columns));
    std::vector<std::string> paths;
    for (const FileFacts& f : files)
        paths.push_back(f.path);
    const std::vector<std::string> names = distinctFileNames(paths);
    for (size_t i = 0; i < files.size(); ++i) {
        const FileFacts& f = files[i];
        std::vector<std::string> cells { text::fileRole(f), f.bytes ? text::bytes(*f.bytes) : "-",
            text::count(uint64_t(f.parameters)), counted(f.macs), text::percent(f.codeShare),
            text::decibel(f.outputSqnrDb, f.exact), text::percent(f.top1Agreement), text::percent(f.accuracy) };
        if (timed)
            cells.push_back(text::runTime(f));
        cells.push_back(f.path.empty() ? "(by the recipe)" : names[i]);
        table.add(std::move(cells));
    }
    return "\nmodels\n" + table.text("  ");
}

std::string elementsText(const ElementDifferences& found, bool verbose)
{
    std::vector<size_t> order = text::mostBeyondFirst(found);
    const size_t shown = verbose ? order.size() : std::min(order.size(), kShownElements);
    TextTable table({ { "value", TextTable::Align::Left, verbose ? 0 : kFileWidth }, { "elements" }, { "beyond" },
        { "largest difference" }, { "first beyond", TextTable::Align::Left } });
    for (size_t i = 0; i < shown; ++i) {
        const ElementRow& row = found.rows[order[i]];
        table.add({ row.name + (row.output ? " (output)" : ""), text::count(row.elements), text::percent(row.share()),
            text::number(row.largest), text::elementPlace(row) });
    }
    std::string out = "\nelement by element: " + text::elementsVerdict(found)
        + (shown < order.size() ? " (" + text::count(shown) + " shown; --verbose shows all)" : "") + "\n"
        + table.text("  ");
    if (!found.unlike.empty())
        out += "  left out, since the tensors differ in size: " + text::counted(found.unlike.size(), "value")
            + ", the first: " + printable(found.unlike.front()) + "\n";
    return out;
}

} // namespace qs
