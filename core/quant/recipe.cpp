// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/recipe.h"

#include <array>
#include <utility>

namespace qs {

namespace {

constexpr std::array<std::pair<RecipeFormat, std::string_view>, 4> kFormats { { { RecipeFormat::Qdq, "qdq" },
    { RecipeFormat::QOperator, "qoperator" }, { RecipeFormat::Dynamic, "dynamic" },
    { RecipeFormat::WeightOnly, "weight-only" } } };

} // namespace

std::string_view recipeFormatName(RecipeFormat format)
{
    for (const auto& [value, name] : kFormats)
        if (value == format)
            return name;
    return "qdq";
}

std::optional<RecipeFormat> recipeFormatOf(std::string_view name)
{
    for (const auto& [value, text] : kFormats)
        if (text == name)
            return value;
    return std::nullopt;
}

Recipe quantscopeRecipe()
{
    Recipe recipe;
    recipe.preparation.enabled = true;
    recipe.keepExtremeConstants = true;
    return recipe;
}

} // namespace qs
