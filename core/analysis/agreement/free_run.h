// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace qs {

/// Where two models that continue a prompt with their own tokens choose different ones for the first time.
struct FirstFlip {
    size_t prompt = 0; ///< number of the sample
    size_t position = 0; ///< from the first new token
    int64_t floatId = 0, quantId = 0; ///< what they choose
    double floatMargin = 0; ///< between the float model's two largest scores there
};

/// What two models make of one prompt, each with its own tokens.
struct ContinuedPrompt {
    size_t prompt = 0; ///< number of the sample
    int64_t promptTokens = 0; ///< of it that both read
    std::vector<int64_t> floatIds, quantIds; ///< the new tokens, as far as the end of the text where that is known
    /// Where they differ for the first time, from the first new token.
    std::optional<size_t> flip() const
    {
        const auto at = std::ranges::mismatch(floatIds, quantIds).in1;
        return at == floatIds.end() ? std::nullopt : std::optional(size_t(at - floatIds.begin()));
    }
};

/// Two models that continued prompts greedily, each with its own tokens, also after they parted.
struct FreeRun {
    std::optional<size_t> promptTokens; ///< of each prompt that were read; nothing: all
    size_t newTokens = 0;
    std::vector<ContinuedPrompt> continued; ///< all prompts
    std::vector<FirstFlip> flips; ///< by prompt; those that never part are left out
    std::vector<int64_t> endTokens; ///< that end a text; empty: not known
};

} // namespace qs
