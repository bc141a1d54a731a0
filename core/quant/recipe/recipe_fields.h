// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/recipe/json_object.h"
#include "core/quant/recipe/recipe_options.h"

/// A recipe and its parts as JSON, field by field.
namespace qs {

/// Sets what the object names.
void readFields(JsonObject& in, Recipe& recipe);

bool anyOption(const RecipeOption& option);
/// Every option of those chosen, whether it has its default or not.
RecipeJson fullJson(const Recipe& recipe, bool (*chosen)(const RecipeOption&) = anyOption);

} // namespace qs
