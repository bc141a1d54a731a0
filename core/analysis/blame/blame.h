// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/blame/token_blame.h"
#include "core/analysis/decode/free_decoding.h"
#include "core/analysis/pairs/compare_pair.h"

#include <optional>

namespace qs {

/// One guess of the next token.
struct BlameRequest {
    size_t prompt = 0;
    /// Of the prompt, after which it is guessed; with `freely` from the first new token, as in FirstFlip.
    size_t position = 0;
    std::optional<FreeDecoding> freely; ///< the text so far is what the float model makes of the prompt
};

/// By how much each part of the quantized model moves the difference of the two rivals' scores. The text so far is read
/// in one go by models that are float before a border and quantized behind it, and the other way round. `x`, `y`: the
/// outputs that guess. Issues: there is no such prompt or position; a model cannot run; cancelled.
Result<TokenBlame> blameToken(const ComparePair& pair, ValueId x, ValueId y, const DataSource& data,
    const BlameRequest& request, const WorkContext& work);

} // namespace qs
