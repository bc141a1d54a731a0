// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/agreement/free_run.h"
#include "core/analysis/measure/number.h"
#include "core/analysis/tasks/scores.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace qs {

/// A guess of a token.
struct GuessPlace {
    size_t prompt = 0; ///< number of the sample
    size_t position = 0; ///< of the scores: behind it the next token is guessed
    double divergence = 0; ///< KL(x || y)
    bool flipped = false; ///< the models guess different tokens
};

/// How well two language models x (float) and y (quantized) guess tokens of the prompts that both read. Natural
/// logarithms. Padding counts in no number.
struct LanguageRow {
    size_t prompts = 0;
    size_t positions = 0; ///< that are no padding
    size_t withoutNumbers = 0; ///< of these: a score is infinite or NaN, so that they count in no number below
    /// Mean of −log p(next token) over all positions but the last of each prompt; nothing where none is guessed.
    Number floatLoss, quantLoss;
    Number klMean, klP99, klMax; ///< of KL(x || y) by position; the 99th percentile is interpolated
    /// The guess to look at first: where the models guess different tokens and KL is largest, else where it is largest.
    std::optional<GuessPlace> worst;
    std::optional<FreeRun> freeRun; ///< where both were also run with their own tokens
    ScoredToken scored = ScoredToken::Next; ///< which token the scores at a position are of
    Number floatPerplexity() const; ///< exp of the loss
    Number quantPerplexity() const;
};

/// The positions of one prompt.
struct MeasuredPrompt {
    size_t number = 0; ///< of the sample
    const std::vector<TokenScores>* tokens = nullptr; ///< never null
};

/// Of prompts of which so many positions are no padding.
LanguageRow languageRow(
    const std::vector<MeasuredPrompt>& prompts, size_t positions, ScoredToken scored = ScoredToken::Next);

} // namespace qs
