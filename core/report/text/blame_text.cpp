// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/text/blame_text.h"

#include "core/report/format.h"
#include "core/report/task_text.h"
#include "core/report/text/text_table.h"

#include <algorithm>

namespace qs {

namespace {

constexpr size_t kShownBlames = 12, kBlamedWidth = 48;

} // namespace

std::string blameText(const TokenBlame& blame, bool verbose)
{
    std::vector<const BlamedUnit*> units;
    for (const BlamedUnit& unit : blame.units)
        units.push_back(&unit);
    std::ranges::stable_sort(units, [](const BlamedUnit* a, const BlamedUnit* b) { return a->moved() > b->moved(); });
    const size_t shown = verbose ? units.size() : std::min(units.size(), kShownBlames);
    TextTable table({ { "unit", TextTable::Align::Left, verbose ? 0 : kBlamedWidth },
        { "kind", TextTable::Align::Left }, { "forward" }, { "backward" } });
    for (size_t i = 0; i < shown; ++i)
        table.add({ units[i]->unit, blameKindName(units[i]->kind), text::number(units[i]->forward),
            text::number(units[i]->backward) });
    return "\nwhy another token, " + text::blameSentence(blame)
        + (shown < units.size() ? " (" + text::count(shown) + " units shown; --verbose shows all)" : "") + "\n"
        + table.text("  ");
}

} // namespace qs
