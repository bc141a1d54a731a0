// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/decode/free_decoding.h"
#include "core/analysis/pairs/compare_pair.h"

#include <optional>
#include <vector>

namespace qs {

/// One guess of a token.
struct BlameRequest {
    size_t prompt = 0;
    /// Of the prompt, after which it is guessed; with `freely` from the first new token, as in FirstFlip.
    size_t position = 0;
    std::optional<FreeDecoding> freely; ///< the text so far is what the float model makes of the prompt
    bool whole = false; ///< what stands behind the position is read, too (ScoredToken::Own)
};

/// Both models' inputs with the text that the guess follows.
struct BlamedText {
    std::vector<Tensor> floatInputs, quantInputs;
    size_t row = 0; ///< of the prompt in its batch
    std::optional<size_t> position; ///< of the scores; nothing: the last one
};

/// Issues: there is no such prompt, token or position; the float model cannot go on; cancelled.
Result<BlamedText> blamedText(const ComparePair& pair, ValueId x, ValueId y, const DataSource& data,
    const BlameRequest& request, const WorkContext& work);

} // namespace qs
