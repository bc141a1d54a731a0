// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/tokens/token_model.h"

#include "core/base/files/json_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace qs {

Result<std::unique_ptr<const TokenModel>> readTokenModel(const nlohmann::ordered_json& json)
{
    // Files of the first versions name no type.
    const std::string type = json.value("type", std::string(json.contains("merges") ? "BPE" : ""));
    if (type == "BPE")
        return readPairModel(json);
    if (type == "WordPiece")
        return readWordModel(json);
    if (type == "Unigram")
        return readScoredModel(json);
    return badInput("makes tokens by a model of the type '" + type + "', which is not supported", {},
        "give a tokenizer of the type BPE, WordPiece or Unigram, or make the token ids with its own library and give "
        "them as .npz");
}

Result<TokenIds> readTokenIds(const nlohmann::ordered_json& vocabulary)
{
    TokenIds ids;
    for (const auto& [word, id] : vocabulary.items()) {
        const uint64_t value = naturalOf(id);
        if (value > INT32_MAX)
            return badInput("gives '" + word + "' an id beyond 32 bits", {}, "use an undamaged file");
        ids.emplace(word, int32_t(value));
    }
    return ids;
}

std::optional<int32_t> findToken(const TokenIds& ids, const std::string& word)
{
    const auto it = ids.find(word);
    return it == ids.end() ? std::nullopt : std::optional(it->second);
}

ByteTokens byteTokens(const TokenIds& ids)
{
    ByteTokens bytes;
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    for (size_t b = 0; b < bytes.size(); ++b)
        bytes[b] = findToken(ids, std::string("<0x") + kDigits[b / 16] + kDigits[b % 16] + ">");
    return bytes;
}

bool canSpell(const ByteTokens& bytes, std::string_view word)
{
    return std::ranges::all_of(word, [&](char b) { return bytes[static_cast<unsigned char>(b)].has_value(); });
}

} // namespace qs
