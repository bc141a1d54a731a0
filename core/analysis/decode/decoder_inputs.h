// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/decode/prompt_inputs.h"
#include "core/analysis/pairs/cache_pairs.h"

#include <utility>
#include <vector>

namespace qs {

/// What changes from token to token. Other inputs stay as the prompt gives them.
struct DecoderInputs {
    PromptInputs prompt;
    std::vector<std::pair<ValueId, size_t>> caches; ///< an output, and the index of the input that it becomes
};

/// The caches of a model: an output, and the index of the input that it becomes. `carry` (OUTPUT, INPUT) goes before
/// what names tell. An Issue where the model does not have such an output or input.
Result<std::vector<std::pair<ValueId, size_t>>> cachesOf(const Plan& plan, const CarryNames& carry);

/// Of a model whose output `scores` guesses the next token. `carry` (OUTPUT, INPUT) goes before what names tell. An
/// Issue names an input whose value for the next token nothing tells.
Result<DecoderInputs> decoderInputs(const Plan& plan, ValueId scores, const CarryNames& carry);

} // namespace qs
