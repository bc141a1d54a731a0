// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/decode/decoder_inputs.h"
#include "core/engine/run/sample_loop.h"

#include <functional>
#include <memory>
#include <vector>

namespace qs {

/// A model that guesses the next token.
struct Decoder {
    /// An Issue where it cannot go on from token to token, or cannot run.
    static Result<Decoder> make(std::shared_ptr<const Plan> plan, ValueId scores, const CarryNames& carry);
    std::shared_ptr<const Plan> plan;
    std::shared_ptr<const Schedule> schedule; ///< of the scores and the caches
    ValueId scores;
    DecoderInputs inputs;
};

/// Prompts of one length that a model continues token by token. With caches each step reads the last token alone, else
/// all of them again.
class Continuation {
public:
    /// `prompt`: one tensor a graph input, whole; its first `tokens` positions are read.
    Continuation(const Decoder& decoder, std::vector<Tensor> prompt, int64_t tokens);
    size_t prompts() const { return size_t(m_rows); }
    /// Scores of the token that comes next, one row a prompt.
    Result<std::vector<std::vector<float>>> guess(const SampleWorker& worker, const CancelToken& cancel);
    /// Goes on with these, one a prompt.
    void append(const std::vector<int64_t>& tokens);

private:
    const Decoder& m_decoder;
    std::vector<Tensor> m_inputs;
    int64_t m_rows = 0;
};

/// What the model goes on with by so many tokens: a list by step of one token a prompt. `last` says of a step's tokens
/// that no further one is wanted. Issues: it cannot; cancelled.
Result<std::vector<std::vector<int64_t>>> goneOn(Continuation text, size_t steps,
    const std::function<bool(const std::vector<int64_t>&)>& last, const SampleWorker& worker,
    const CancelToken& cancel);

/// A prompt without a token at its first position.
Issue paddedBefore(size_t prompt);
/// A prompt that has fewer tokens than are to be read of it; without any it begins with padding, which has a remedy of
/// its own.
Issue shortPrompt(size_t prompt, int64_t tokens, int64_t wanted, std::string remedy);

} // namespace qs
