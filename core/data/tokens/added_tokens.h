// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <nlohmann/json_fwd.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// Texts that are tokens wherever they stand, whatever the model would make of them.
class AddedTokens {
public:
    /// Those of the `added_tokens` of a tokenizer.json that are looked for in the text as it is (`normalized` false),
    /// or as the normalizer leaves it; `normalize`: by which such tokens are changed, too. Throws what nlohmann throws.
    static AddedTokens read(const nlohmann::ordered_json& json, bool normalized,
        const std::function<std::string(const std::string&)>& normalize);

    /// All parts of the text in order: a token's id, or nothing for what lies between. Of tokens that begin at one
    /// place the longest counts.
    void forEachPart(
        std::string_view text, const std::function<void(std::string_view, std::optional<int32_t>)>& each) const;

private:
    struct Token {
        std::string text;
        int32_t id;
        bool singleWord, stripsLeft, stripsRight;
    };
    const Token* at(std::string_view text, size_t place) const;
    std::vector<Token> m_tokens; ///< the longest first
    std::array<bool, 256> m_begins {}; ///< by first byte
};

} // namespace qs
