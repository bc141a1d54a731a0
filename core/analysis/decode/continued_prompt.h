// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/decode/free_decoding.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace qs {

/// What two models make of one prompt, each with its own tokens.
struct ContinuedPrompt {
    size_t prompt = 0; ///< number of the sample
    int64_t promptTokens = 0; ///< of it that both read
    std::vector<int64_t> floatIds, quantIds; ///< the new tokens, equally many
    std::optional<size_t> flip() const; ///< where they differ for the first time, from the first new token
};

/// Greedily (the largest score, of equal ones the first), also after they parted. Issues: there is no such prompt, it
/// is shorter than `options` says, a model cannot go on; cancelled.
Result<ContinuedPrompt> continuedPrompt(const DecodedPair& pair, const DataSource& data, size_t prompt,
    const FreeDecoding& options, const WorkContext& work);

} // namespace qs
