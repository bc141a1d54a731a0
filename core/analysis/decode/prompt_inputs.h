// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/plan/plan.h"
#include "core/tensor/tensor.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace qs {

/// Where a language model reads its text, as indices of the graph's inputs: tables of integers with a row a prompt.
struct PromptInputs {
    size_t ids = 0; ///< [batch, positions]
    std::optional<size_t> mask; ///< [batch, past and positions]
    std::optional<size_t> places; ///< [batch, positions] or [3, batch, positions], counting
};

/// Of a model whose output `scores` guesses the next token; nothing for others.
std::optional<PromptInputs> promptInputs(const Plan& plan, ValueId scores);

/// Positions before the first padding, by row.
std::vector<int64_t> promptLengths(const PromptInputs& at, const std::vector<Tensor>& inputs);
/// All inputs with the first tokens of each prompt alone.
std::vector<Tensor> firstTokens(const PromptInputs& at, std::vector<Tensor> inputs, int64_t tokens);
/// All inputs with the tokens behind so many of each prompt alone, a mask as it is.
std::vector<Tensor> lastTokens(const PromptInputs& at, std::vector<Tensor> inputs, int64_t behind);
/// All inputs with these tokens of each prompt alone, a mask as long as they are, too.
std::vector<Tensor> tokensBetween(const PromptInputs& at, std::vector<Tensor> inputs, int64_t begin, int64_t end);
/// Goes on by one token a prompt; `again`: all of them are read again, else the new ones alone.
void addTokens(const PromptInputs& at, std::vector<Tensor>& inputs, const std::vector<int64_t>& tokens, bool again);

} // namespace qs
