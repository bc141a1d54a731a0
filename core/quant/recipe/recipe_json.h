// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/quant/recipe/recipe.h"

#include <string>
#include <vector>

namespace qs {

/// Version of the recipe's JSON that this build writes; older ones are read.
inline constexpr int64_t kRecipeVersion = 1;

/// `{}` is ONNX Runtime's defaults; "preset": "quantscope" starts from that preset. Keys that are left out keep their
/// default. Issues name the key: unknown, of another type, out of range.
Result<Recipe> recipeFromJson(const std::string& text);
Result<Recipe> readRecipe(const std::string& path);
/// Every field that differs from the defaults.
std::string recipeToJson(const Recipe& recipe);

/// One difference of two recipes: the path of the field ("calibration.percentile", "tensors.X.scale") and what it is in
/// each, as JSON ("null" where it is the default).
struct RecipeChange {
    std::string field;
    std::string before, after;
    bool operator==(const RecipeChange&) const = default;
};
std::vector<RecipeChange> recipeDiff(const Recipe& before, const Recipe& after);

/// Content keys: equal recipes have equal keys, in every process and version of this schema. Each covers what its step
/// depends on, so that a step whose key did not change need not run again.
struct RecipeKeys {
    std::string calibration; ///< what is observed: operator types, preparation
    std::string ranges; ///< how ranges follow from it
    std::string graph; ///< the quantized graph, given the ranges
    bool operator==(const RecipeKeys&) const = default;
};
RecipeKeys recipeKeys(const Recipe& recipe);

} // namespace qs
