// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/tokens/added_tokens.h"
#include "core/data/tokens/text_steps.h"
#include "core/data/tokens/token_model.h"

#include <memory>
#include <string>
#include <vector>

namespace qs {

/// What a tokenizer puts around a single text.
struct TokensAround {
    std::vector<int32_t> before, after;
};

/// A tokenizer as Hugging Face's tokenizers library writes it (tokenizer.json).
class Tokenizer {
public:
    /// An Issue names the file and what of it is damaged or not supported.
    static Result<Tokenizer> read(const std::string& path);
    /// The tokens of a text in UTF-8, without those that are put before and after it.
    std::vector<int32_t> encode(std::string_view text) const;
    /// Tokens that are put before every text.
    const std::vector<int32_t>& before() const { return m_around.before; }
    /// Tokens that are put behind every text.
    const std::vector<int32_t>& after() const { return m_around.after; }

private:
    Status take(const nlohmann::ordered_json& json);
    std::vector<TextStep> m_normalize, m_cut;
    AddedTokens m_raw, m_normalized;
    std::shared_ptr<const TokenModel> m_model;
    TokensAround m_around;
};

} // namespace qs
