// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <nlohmann/json_fwd.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace qs {

/// What makes tokens of a piece of text.
class TokenModel {
public:
    virtual ~TokenModel() = default;
    /// Adds the ids of the piece.
    virtual void encode(std::string_view piece, std::vector<int32_t>& ids) const = 0;
};

/// The `model` of a tokenizer.json. An Issue, without file, names a type that is not supported; throws what nlohmann
/// throws where keys are missing or of another type.
Result<std::unique_ptr<const TokenModel>> readTokenModel(const nlohmann::ordered_json& json);

/// One of the type BPE (byte pair encoding: Sennrich, Haddow, Birch, 2016): the pair that was merged first when the
/// vocabulary was made is merged first.
Result<std::unique_ptr<const TokenModel>> readPairModel(const nlohmann::ordered_json& json);
/// One of the type WordPiece: the longest word at each place; a piece that leaves something over is unknown.
Result<std::unique_ptr<const TokenModel>> readWordModel(const nlohmann::ordered_json& json);
/// One of the type Unigram (Kudo, 2018): the words whose scores sum to most.
Result<std::unique_ptr<const TokenModel>> readScoredModel(const nlohmann::ordered_json& json);

/// Words and their ids.
using TokenIds = std::unordered_map<std::string, int32_t>;
/// Of an object; an Issue where an id is beyond 32 bits.
Result<TokenIds> readTokenIds(const nlohmann::ordered_json& vocabulary);
std::optional<int32_t> findToken(const TokenIds& ids, const std::string& word);
/// Tokens that stand for one byte each ("<0x0A>"), which spell what has no token.
using ByteTokens = std::array<std::optional<int32_t>, 256>;
ByteTokens byteTokens(const TokenIds& ids);
/// Whether all bytes of a word have one.
bool canSpell(const ByteTokens& bytes, std::string_view word);

} // namespace qs
