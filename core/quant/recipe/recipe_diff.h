// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/recipe/recipe.h"

#include <string>
#include <vector>

namespace qs {

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
