// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/agreement/language_row.h"
#include "core/analysis/blame/token_blame.h"
#include "core/data/tokens/token_words.h"

#include <string>
#include <vector>

/// What language models say, as text. `words`: how tokens are written; null: unknown.
namespace qs::text {

/// Loss, perplexity and divergence of a language model, float → quantized; the guess to look at first.
std::string languageSentence(const LanguageRow& language);
/// Which token a model chose in place of another, and by how much.
std::string blameSentence(const TokenBlame& blame, const TokenWords* words);
/// Tokens as one line: what they are called, else their ids.
std::string tokensText(const std::vector<int64_t>& ids, const TokenWords* words);

/// What two models go on with, cut where they part.
struct PartedTexts {
    std::string common; ///< of both, up to there
    std::string floatRest, quantRest; ///< from there on; empty where they never part
};
PartedTexts partedTexts(const ContinuedPrompt& made, const TokenWords* words);

} // namespace qs::text
