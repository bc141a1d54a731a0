// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// A part of a text on its way to become tokens.
struct TextPiece {
    std::string_view text;
    bool first = true; ///< the text begins with it
};

using TakePiece = std::function<void(const TextPiece&)>;
/// Gives what it makes of a piece to `take`, in order.
using TextStep = std::function<void(const TextPiece& piece, const TakePiece& take)>;

/// The steps one after the other.
void runSteps(const std::vector<TextStep>& steps, const TextPiece& piece, const TakePiece& take, size_t from = 0);

/// Bytes as the visible characters by which byte-level tokenizers write them (GPT-2's).
std::string visibleBytes(std::string_view bytes);

/// The `pre_tokenizer` of a tokenizer.json (null: no steps). An Issue, without file, names a type that is not
/// supported; throws what nlohmann throws where keys are missing or of another type.
Result<std::vector<TextStep>> readPreTokenizer(const nlohmann::ordered_json& json);

/// The `normalizer`, likewise. Each step gives one piece.
Result<std::vector<TextStep>> readNormalizer(const nlohmann::ordered_json& json);

} // namespace qs
