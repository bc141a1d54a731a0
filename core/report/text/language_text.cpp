// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/text/language_text.h"

#include "core/base/text/one_line.h"
#include "core/report/format.h"

#include <fmt/format.h>

#include <algorithm>

namespace qs::text {

namespace {

constexpr size_t kMostFlips = 8;

/// How many prompts part, and the first of them.
std::string freeSentence(const FreeRun& run)
{
    std::string line = fmt::format("continued by each model itself, {} of {} part within {}", count(run.flips.size()),
        counted(run.continued.size(), "prompt"), counted(run.newTokens, "token"));
    for (size_t i = 0; i < std::min(run.flips.size(), kMostFlips); ++i)
        line += fmt::format("{} {} at {} (float margin {})", i ? "," : ": prompt", run.flips[i].prompt,
            run.flips[i].position, number(run.flips[i].floatMargin));
    return run.flips.size() > kMostFlips ? line + " ..." : line;
}

std::string tokenText(int64_t id, const TokenWords* words)
{
    return words && !words->word(id).empty() ? fmt::format("token {} '{}'", id, oneLine(words->word(id)))
                                             : fmt::format("token {}", id);
}

} // namespace

std::string languageSentence(const LanguageRow& language)
{
    const bool own = language.scored == ScoredToken::Own;
    std::string line = fmt::format("{} of {}, {}", own ? "tokens in their own place" : "next token",
        counted(language.prompts, "prompt"), counted(language.positions, "position"));
    if (language.floatLoss)
        line += fmt::format(": loss {} → {}, perplexity {} → {}", number(language.floatLoss, 5),
            number(language.quantLoss, 5), number(language.floatPerplexity(), 4),
            number(language.quantPerplexity(), 4));
    if (language.klMean)
        line += fmt::format("; KL divergence {} on average, {} at the 99th percentile, {} at most",
            number(language.klMean), number(language.klP99), number(language.klMax));
    if (language.withoutNumbers > 0)
        line += fmt::format(
            "; {} left out, whose scores are infinite or NaN", counted(language.withoutNumbers, "position"));
    if (language.worst && language.worst->flipped)
        line += fmt::format("; worst flip {}:{} (KL {})", language.worst->prompt, language.worst->position,
            number(language.worst->divergence));
    if (language.freeRun)
        line += "; " + freeSentence(*language.freeRun);
    return line;
}

std::string blameSentence(const TokenBlame& blame, const TokenWords* words)
{
    return fmt::format("prompt {} at {}: {} stands above {} by {} in the float model and by {} in the quantized "
                       "one, moved by {}",
        blame.prompt, blame.position, tokenText(blame.floatId, words), tokenText(blame.quantId, words),
        number(blame.floatDifference), number(blame.quantDifference), number(blame.total()));
}

std::string tokensText(const std::vector<int64_t>& ids, const TokenWords* words)
{
    if (words)
        return oneLine(words->text(ids));
    std::string line;
    for (const int64_t id : ids)
        line += (line.empty() ? "" : " ") + std::to_string(id);
    return line;
}

PartedTexts partedTexts(const ContinuedPrompt& made, const TokenWords* words)
{
    const auto at = ptrdiff_t(made.flip().value_or(made.floatIds.size()));
    const auto part = [&](const std::vector<int64_t>& ids, ptrdiff_t from, ptrdiff_t to) {
        return tokensText({ ids.begin() + from, ids.begin() + to }, words);
    };
    return { part(made.floatIds, 0, at), part(made.floatIds, at, ptrdiff_t(made.floatIds.size())),
        part(made.quantIds, at, ptrdiff_t(made.quantIds.size())) };
}

} // namespace qs::text
