// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/blame/token_blame.h"
#include "core/data/tokens/token_words.h"

#include <nlohmann/json_fwd.hpp>

namespace qs {

/// Adds `blame`, the parts that chose another token, and `blamed`, what it is about.
void addBlameJson(const TokenBlame& blame, const TokenWords* words, nlohmann::ordered_json& document);

} // namespace qs
