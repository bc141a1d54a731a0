// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/agreement/free_run.h"
#include "core/base/work/work_context.h"
#include "core/data/data_source.h"
#include "core/engine/run/carry.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

namespace qs {

/// How prompts are continued.
struct FreeDecoding {
    std::optional<size_t> promptTokens; ///< read of each prompt; nothing: all that are no padding
    size_t newTokens = 32;
    CarryNames carry; ///< caches whose names do not tell
    /// Tokens that end a text: the first that a model chooses is the last of what it goes on with. Nothing: not told.
    std::optional<std::vector<int64_t>> endTokens = {};
    bool ends(int64_t token) const { return endTokens && std::ranges::find(*endTokens, token) != endTokens->end(); }
};

/// Two models, and the outputs of them that guess the next token.
struct DecodedPair {
    std::shared_ptr<const Plan> floatPlan, quantPlan;
    ValueId floatScores, quantScores;
};

/// Lets each model continue the prompts greedily (the largest score, of equal ones the first) with its own tokens, also
/// after they parted. An Issue (the caller adds the data's file) says which prompt is too short, or where a model
/// cannot go on.
Result<FreeRun> decodeFree(
    const DecodedPair& pair, const DataSource& data, const FreeDecoding& options, const WorkContext& work);

} // namespace qs
