// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/text/blame_text.h"

#include "core/base/text/one_line.h"
#include "core/report/format.h"
#include "core/report/text/language_text.h"
#include "core/report/text/text_table.h"

#include <algorithm>
#include <fmt/format.h>

namespace qs {

namespace {

constexpr size_t kShownBlames = 12, kBlamedWidth = 48, kShownPrompts = 4, kShownText = 72;

std::string cut(const std::string& text, bool verbose) { return oneLine(text, verbose ? SIZE_MAX : kShownText); }

} // namespace

std::string blameText(const TokenBlame& blame, const TokenWords* words, bool verbose)
{
    std::vector<const BlamedUnit*> units;
    for (const BlamedUnit& unit : blame.units)
        units.push_back(&unit);
    std::ranges::stable_sort(units, [](const BlamedUnit* a, const BlamedUnit* b) { return a->moved() > b->moved(); });
    const size_t shown = verbose ? units.size() : std::min(units.size(), kShownBlames);
    TextTable table({ { "unit", TextTable::Align::Left, verbose ? 0 : kBlamedWidth },
        { "kind", TextTable::Align::Left }, { "forward" }, { "backward" }, { "alone" }, { "restored" } });
    for (size_t i = 0; i < shown; ++i)
        table.add({ units[i]->unit, blameKindName(units[i]->kind), text::number(units[i]->forward),
            text::number(units[i]->backward), text::number(units[i]->alone), text::number(units[i]->restored) });
    return "\nwhy another token, " + text::blameSentence(blame, words)
        + (shown < units.size() ? " (" + text::count(shown) + " units shown; --verbose shows all)" : "") + "\n"
        + table.text("  ");
}

std::string continuationsText(const FreeRun& run, const TokenWords* words, bool verbose)
{
    std::string lines;
    size_t shown = 0, wanted = 0;
    for (const ContinuedPrompt& made : run.continued) {
        const auto flip = made.flip();
        if (!flip && !verbose)
            continue;
        if (++wanted > kShownPrompts && !verbose)
            continue;
        ++shown;
        const text::PartedTexts texts = text::partedTexts(made, words);
        if (!flip) {
            lines += fmt::format("  prompt {}, both: {}\n", made.prompt, cut(texts.common, verbose));
            continue;
        }
        lines += fmt::format("  prompt {}, both for {}: {}\n    float:     {}\n    quantized: {}\n", made.prompt,
            text::counted(*flip, "token"), cut(texts.common, verbose), cut(texts.floatRest, verbose),
            cut(texts.quantRest, verbose));
    }
    if (lines.empty())
        return {};
    return "\nwhat each model goes on with"
        + (shown < wanted ? fmt::format(" ({} of {} prompts that part; --verbose shows all)", shown, wanted)
                          : std::string())
        + "\n" + lines;
}

} // namespace qs
