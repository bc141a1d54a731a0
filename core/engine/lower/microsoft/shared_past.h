// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/engine/step/step_context.h"

/// A past that has room for the tokens to come, so that the present can lie in the same memory: MultiHeadAttention with
/// past_sequence_length. Buffers are batch x heads x tokens x size.
namespace qs {

struct SharedPast {
    int64_t known = 0; ///< tokens of the past in the buffers, the rest is room
    const Tensor *keys = nullptr, *values = nullptr;
    const Tensor* beams
        = nullptr; ///< batch / beams x beams x tokens: which beam of the same search has the token's past
};

/// From the inputs past_key, past_value, past_sequence_length and cache_indirection, for `tokens` new ones.
Result<SharedPast> sharedPast(const StepContext& s, int64_t tokens);
/// The known tokens; with `throughBeams` each from the beam that the search took it from.
Result<Tensor> knownTokens(const StepContext& s, const SharedPast& past, const Tensor& buffer, bool throughBeams);
/// The buffer with `fresh` behind its known tokens; both of one type.
Tensor filledBuffer(const StepContext& s, const SharedPast& past, const Tensor& buffer, const Tensor& fresh);

} // namespace qs
