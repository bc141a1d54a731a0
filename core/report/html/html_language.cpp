// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/html/html_cells.h"
#include "core/report/html/html_parts.h"
#include "core/report/text/language_text.h"

#include <fmt/format.h>

namespace qs::html {

std::string blameTable(const TokenBlame& blame, const TokenWords* words)
{
    std::string out = openTable("blame",
        { { "unit", "layer or node of the float model, rows of its weight, or what it remembers", false },
            { "kind", "layer, node, weight_block or cache", false },
            { "in", "layer that a node is in, or node of a weight or cache", false },
            { "forward", "by how much it moves the difference, all before it quantized and all behind it float" },
            { "backward", "the same, all behind it quantized and all before it float" },
            { "alone", "the same, all else float" },
            { "restored", "the same, all else quantized: what would be undone if it were float" } });
    for (const BlamedUnit& unit : blame.units)
        out += "<tr>" + textCell(unit.unit, "name") + textCell(blameKindName(unit.kind)) + textCell(unit.parent, "name")
            + plain(unit.forward) + plain(unit.backward) + plain(unit.alone) + plain(unit.restored) + "</tr>\n";
    return "<p>" + escaped(text::blameSentence(blame, words)) + ".</p>" + out + closeTable();
}

std::string continuationTable(const FreeRun& run, const TokenWords* words)
{
    std::string out = openTable("continuations",
        { { "prompt", "number of the sample" }, { "tokens", "of the prompt that both read" },
            { "parts at", "new token, from 0, where the models choose different ones for the first time" },
            { "model", "float above, quantized below", false },
            { "goes on with", words ? "text; from where they part in bold" : "ids; from where they part in bold",
                false } });
    const auto line = [](const std::string& common, const std::string& rest) {
        return escaped(common) + (rest.empty() ? "" : " <b>" + escaped(rest) + "</b>");
    };
    for (const ContinuedPrompt& made : run.continued) {
        const text::PartedTexts texts = text::partedTexts(made, words);
        const auto flip = made.flip();
        out += "<tr>" + plain(double(made.prompt)) + plain(double(made.promptTokens))
            + (flip ? plain(double(*flip)) : numberCell("never", {})) + "<td>float<br/>quantized</td><td>"
            + line(texts.common, texts.floatRest) + "<br/>" + line(texts.common, texts.quantRest) + "</td></tr>\n";
    }
    return "<p>"
        + std::string(run.flips.empty() ? "No prompt parts"
                                        : fmt::format("{} of {} prompts part", run.flips.size(), run.continued.size()))
        + fmt::format(" within {} tokens", run.newTokens) + (run.endTokens.empty() ? "" : ", or the end of the text")
        + ". Each model chooses its most likely token, also after they parted.</p>" + out + closeTable();
}

} // namespace qs::html
