// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/recipe/recipe.h"

namespace qs {

Recipe quantscopeRecipe()
{
    Recipe recipe;
    recipe.preparation.enabled = true;
    recipe.keepExtremeConstants = true;
    recipe.exactActivations = true;
    recipe.weightOnly.gptq.spreadErrors = true;
    recipe.ortVersion = OrtVersion::V1_32;
    return recipe;
}

} // namespace qs
