// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/agreement/free_run.h"
#include "core/analysis/measure/number.h"
#include "core/analysis/tasks/scores.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace qs {

/// How well two language models x (float) and y (quantized) guess the next token of the prompts that both read. Natural
/// logarithms. Padding counts in no number.
struct LanguageRow {
    size_t prompts = 0;
    size_t positions = 0; ///< that are no padding
    Number floatLoss, quantLoss; ///< mean of −log p(next token) over all positions but the last of each prompt
    Number klMean, klP99, klMax; ///< of KL(x || y) by position; the 99th percentile is interpolated
    std::optional<FreeRun> freeRun; ///< where both were also run with their own tokens
    Number floatPerplexity() const; ///< exp of the loss
    Number quantPerplexity() const;
};

/// Of prompts, one list of positions each, of which so many are no padding.
LanguageRow languageRow(const std::vector<const std::vector<TokenScores>*>& prompts, size_t positions);

} // namespace qs
