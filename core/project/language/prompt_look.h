// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/lab/pair_detail.h"
#include "core/analysis/tasks/scores.h"
#include "core/project/snapshot/snapshot.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace qs {

/// One position of a prompt that both language models read.
struct PromptToken {
    int64_t id = 0;
    bool padding = false;
    TokenScores scores; ///< of the token that is guessed here
    int64_t floatGuess = 0, quantGuess = 0; ///< of it; of equal scores the first
    double floatMargin = 0; ///< how far the float model's guess stands above all others, in units of its scores
};

/// What two language models say along one prompt.
struct PromptLook {
    size_t prompt = 0; ///< number of the sample
    std::vector<PromptToken> tokens; ///< one a position
    ScoredToken scored = ScoredToken::Next; ///< which one is guessed at a position
    /// The position whose scores guess this token; nothing: none.
    std::optional<size_t> guessOf(size_t token) const
    {
        if (scored == ScoredToken::Next)
            return token > 0 ? std::optional(token - 1) : std::nullopt;
        return token;
    }
};

/// By what the models' outputs are for that sample (sampleOutputs). An Issue where none scores tokens.
Result<PromptLook> promptLook(const Snapshot& snapshot, const std::vector<SampleOutput>& outputs, size_t sample);

} // namespace qs
