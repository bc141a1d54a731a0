// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/plan/plan.h"
#include "core/tensor/tensor.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace qs {

/// Which token of a text a row of scores is about.
enum class ScoredToken : uint8_t {
    None, ///< of no text: other classes
    Next, ///< the one that comes next: the model reads a text from its beginning on, as decoders do
    Own, ///< the one in its place: the model reads what stands before and behind it, as masked language models do
};

/// Inputs of a language model, as indices of the graph's inputs.
struct TokenInputs {
    size_t ids = 0; ///< integers [batch, positions]
    std::optional<size_t> mask; ///< [batch, positions] or longer: 0 where a position is padding
    bool operator==(const TokenInputs&) const = default;
};

/// The inputs that hold tokens, where an output [batch, positions, vocabulary] stands beside them: of several texts, as
/// an encoder and a decoder read them, the one that the output's positions are made of. Nothing for other outputs,
/// where it is not clear which text this is, and for models that read two kinds of segments, which guess words that are
/// hidden and not the next one.
std::optional<TokenInputs> tokenInputs(const Plan& plan, ValueId output);

/// One sample's tokens.
struct PromptTokens {
    std::vector<int64_t> ids; ///< one a position
    std::vector<uint8_t> counts; ///< same length; 0: padding
    bool hasNext(size_t position) const
    {
        return position + 1 < ids.size() && counts[position] != 0 && counts[position + 1] != 0;
    }
};

/// Of each sample of a feed, whose rows have so many positions and whose vocabulary has so many words. Empty where ids
/// are beyond it: then the classes are no words.
std::vector<PromptTokens> promptTokens(
    const TokenInputs& inputs, std::span<const Tensor> feed, size_t samples, size_t positions, size_t vocabulary);

} // namespace qs
