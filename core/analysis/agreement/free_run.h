// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

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

/// Two models that continued prompts greedily, each with its own tokens.
struct FreeRun {
    std::optional<size_t> promptTokens; ///< of each prompt that were read; nothing: all
    size_t newTokens = 0;
    size_t prompts = 0;
    std::vector<FirstFlip> flips; ///< by prompt; those that never part are left out
};

} // namespace qs
