// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/quant/recipe/recipe.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace qs {

/// Version of the recipe's JSON that this build writes; older ones are read.
inline constexpr int64_t kRecipeVersion = 1;

/// `{}` is ONNX Runtime's defaults; "preset": "quantscope" starts from that preset. Keys that are left out keep their
/// default. Issues name the key: unknown, of another type, out of range.
Result<Recipe> recipeFromJson(const std::string& text);
Result<Recipe> recipeOf(const nlohmann::ordered_json& json);
Result<Recipe> readRecipe(const std::string& path);
/// Every field that differs from the defaults.
std::string recipeToJson(const Recipe& recipe);

} // namespace qs
