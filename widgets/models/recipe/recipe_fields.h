// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/recipe/recipe.h"

#include <QString>

#include <functional>
#include <string>
#include <vector>

namespace qs {

/// One value that a setting can take.
struct RecipeChoice {
    QString text;
    std::function<void(Recipe&)> set;
};

/// One setting of a recipe that holds for all nodes, as people see it: a choice, or a number.
struct RecipeField {
    std::string path; ///< as in recipeDiff: what its origin is looked up by
    QString title, label, toolTip; ///< the label is short, and stands among its neighbours
    std::vector<RecipeChoice> choices; ///< empty: a number
    double least = 0, most = 0;
    int decimals = 0;
    std::function<double(const Recipe&)> get; ///< index of the choice (-1: none of them), or the number
    std::function<void(Recipe&, double)> setNumber;
    std::function<void(Recipe&, const Recipe& from)> copy; ///< takes the setting from another recipe
    std::function<bool(const Recipe&)> applies; ///< whether the rest of the recipe leaves it a meaning
    bool section = false; ///< begins a group: `label` is its title, nothing else is set
};

/// All of them, in the order to show.
const std::vector<RecipeField>& recipeFields();
/// The text of the field's value: "percentile", "99.999".
QString recipeFieldText(const RecipeField& field, const Recipe& recipe);

} // namespace qs
