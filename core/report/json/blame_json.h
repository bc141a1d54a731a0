// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/blame/token_blame.h"

#include <nlohmann/json_fwd.hpp>

namespace qs {

/// Adds `blame`, the parts that chose another token, and `blamed`, what it is about.
void addBlameJson(const TokenBlame& blame, nlohmann::ordered_json& document);

} // namespace qs
