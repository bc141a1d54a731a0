// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/tokens/token_words.h"
#include "core/project/language/free_decoding.h"
#include "core/project/language/prompt_look.h"
#include "widgets/views/language/token_flow.h"

namespace qs {

/// What colours a token: a number of the guess that it is the answer to.
enum class TokenNumber {
    Divergence, ///< KL(float || quantized) of the guess, natural logarithm
    LossIncrease, ///< by how much −log p of this token is larger in the quantized model
};
/// From 0 to this the colours go, nats.
double tokenScale(TokenNumber number);

/// A token for people: blanks and line ends visible, "#345" where nothing tells how it is written.
QString tokenText(const TokenWords* words, int64_t id);

/// The prompt, each token coloured by the guess of it; of the first there is none where the next one is guessed.
TokenLine promptLine(const PromptLook& look, const TokenWords* words, TokenNumber number);
/// The new tokens of the float model, and below them those of the quantized one.
std::vector<TokenLine> continuationLines(const ContinuedPrompt& made, const TokenWords* words);

} // namespace qs
