// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <string>

namespace qs {

/// Reads a tokenizer.json. `take` may throw what nlohmann throws where keys are missing or of another type; an Issue,
/// its own included, names the file and what of it is damaged or not supported.
Status readTokenizerFile(const std::string& path, const std::function<Status(const nlohmann::ordered_json&)>& take);

} // namespace qs
