// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/text/iterations_text.h"

#include "core/report/format.h"
#include "core/report/iterations.h"
#include "core/report/text/text_table.h"

#include <algorithm>

namespace qs {

namespace {

constexpr size_t kShownValues = 5, kValueWidth = 44;

double fall(const IterationRow& row) { return row.changeDb.value_or(0); }

} // namespace

std::string iterationsText(const Snapshot& snapshot, bool verbose)
{
    std::vector<IterationRow> rows = iterationRows(snapshot);
    std::erase_if(rows, [](const IterationRow& row) { return row.byIteration.size() < 2 || !row.sqnrDb; });
    if (rows.empty())
        return {};
    std::ranges::stable_sort(rows, {}, fall);
    const size_t shown = verbose ? rows.size() : std::min(rows.size(), kShownValues);
    const size_t width = verbose ? 0 : kValueWidth;
    TextTable table({ { "value", TextTable::Align::Left, width }, { "in", TextTable::Align::Left, width },
        { "iterations" }, { "SQNR" }, { "first" }, { "last" }, { "change" } });
    for (size_t i = 0; i < shown; ++i) {
        const IterationRow& row = rows[i];
        table.add({ row.inner, row.loop, text::count(row.byIteration.size()), text::decibel(row.sqnrDb),
            text::decibel(row.byIteration.front(), row.exact.front()),
            text::decibel(row.byIteration.back(), row.exact.back()), text::decibel(row.changeDb) });
    }
    return "\nerror along iterations, steepest fall first (" + text::count(shown) + " of " + text::count(rows.size())
        + ")\n" + table.text("  ");
}

} // namespace qs
