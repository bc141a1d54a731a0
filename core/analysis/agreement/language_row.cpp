// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/agreement/language_row.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace qs {

namespace {

Number mean(double sum, size_t count) { return count > 0 ? Number(sum / double(count)) : std::nullopt; }

Number perplexity(const Number& loss) { return loss ? Number(std::exp(*loss)) : std::nullopt; }

/// Between the two values beside it in order, as their distance tells.
Number percentile(std::vector<double> values, double share)
{
    if (values.empty())
        return std::nullopt;
    const double at = share * double(values.size() - 1);
    const auto below = size_t(at);
    std::ranges::nth_element(values, values.begin() + ptrdiff_t(below));
    const double low = values[below];
    if (below + 1 == values.size())
        return low;
    const double high = *std::min_element(values.begin() + ptrdiff_t(below) + 1, values.end());
    return low + (at - double(below)) * (high - low);
}

std::optional<GuessPlace> worstGuess(const std::vector<MeasuredPrompt>& prompts)
{
    std::optional<GuessPlace> worst;
    for (const MeasuredPrompt& prompt : prompts)
        for (size_t i = 0; i < prompt.tokens->size(); ++i) {
            const TokenScores& token = (*prompt.tokens)[i];
            const GuessPlace place { prompt.number, i, token.divergence, token.flipped == 1 };
            const auto order = [](const GuessPlace& g) { return std::pair(g.flipped, g.divergence); };
            if (!std::isnan(token.divergence) && (!worst || order(place) > order(*worst)))
                worst = place;
        }
    return worst;
}

} // namespace

Number LanguageRow::floatPerplexity() const { return perplexity(floatLoss); }

Number LanguageRow::quantPerplexity() const { return perplexity(quantLoss); }

LanguageRow languageRow(const std::vector<MeasuredPrompt>& prompts, size_t positions, ScoredToken scored)
{
    LanguageRow row;
    row.scored = scored;
    row.prompts = prompts.size();
    row.positions = positions;
    double floatSum = 0, quantSum = 0;
    size_t losses = 0;
    std::vector<double> divergences;
    for (const MeasuredPrompt& prompt : prompts)
        for (const TokenScores& token : *prompt.tokens) {
            if (!std::isnan(token.divergence))
                divergences.push_back(token.divergence);
            if (scored != ScoredToken::Next || std::isnan(token.floatLoss) || std::isnan(token.quantLoss))
                continue;
            floatSum += token.floatLoss;
            quantSum += token.quantLoss;
            ++losses;
        }
    row.floatLoss = mean(floatSum, losses);
    row.quantLoss = mean(quantSum, losses);
    double sum = 0;
    for (const double kl : divergences)
        sum += kl;
    row.klMean = mean(sum, divergences.size());
    row.withoutNumbers = positions - std::min(positions, divergences.size());
    row.klP99 = percentile(divergences, 0.99);
    if (!divergences.empty())
        row.klMax = *std::ranges::max_element(divergences);
    row.worst = worstGuess(prompts);
    return row;
}

} // namespace qs
