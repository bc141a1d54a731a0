// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/recipe/recipe.h"

namespace qs {

/// Operators that a recipe without types of its own quantizes.
const std::vector<std::string>& defaultOpTypes(RecipeFormat format);
/// Those that this recipe quantizes.
const std::vector<std::string>& opTypesOf(const Recipe& recipe);

} // namespace qs
