// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/snapshot/snapshot.h"

#include <cstdint>
#include <string>
#include <vector>

namespace qs {

/// Tokens that end a text, as the files beside a language model say: `eos_token_id` of the genai_config.json beside the
/// float model, or else beside the quantized one; or else `eos_token` of the tokenizer_config.json beside `tokenizer`
/// (empty: beside the float model). Empty where nobody says it; what is damaged says nothing.
std::vector<int64_t> endTokens(const Snapshot& snapshot, const std::string& tokenizer = {});

} // namespace qs
