// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/rows/output_row.h"
#include "core/data/tokens/token_words.h"

#include <nlohmann/json_fwd.hpp>

#include <vector>

namespace qs {

/// Of the first output that scores tokens; null where none does. `words`: how tokens are written; null: unknown.
nlohmann::ordered_json languageJson(const std::vector<OutputRow>& outputs, const TokenWords* words);

} // namespace qs
