// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/recipe/recipe_options.h"

#include <QString>
#include <QStringList>

#include <string>
#include <vector>

namespace qs {

/// One setting of a recipe that holds for all nodes, as people see it: a choice, or a number.
class RecipeField {
public:
    explicit RecipeField(const RecipeOption& option);

    /// As in recipeDiff: what its origin is looked up by.
    std::string path() const { return std::string(m_option->path); }
    const RecipeLine& line() const { return m_option->line; }
    /// The label is short, and stands among its neighbours; the section is the title above, empty where there is none.
    QString title, label, toolTip, section;
    QStringList choices; ///< empty: a number

    /// Index of the choice (-1: none of them), or the number.
    double get(const Recipe& recipe) const;
    void set(Recipe& recipe, double value) const;
    /// Takes the setting from another recipe.
    void copy(Recipe& to, const Recipe& from) const { m_option->value.copy(to, from); }
    /// Whether the rest of the recipe leaves it a meaning.
    bool applies(const Recipe& recipe) const { return !line().shown || line().shown(recipe); }
    bool sectionApplies(const Recipe& recipe) const { return !line().sectionShown || line().sectionShown(recipe); }
    /// "percentile", "99.999"
    QString text(const Recipe& recipe) const;

private:
    const RecipeOption* m_option;
    std::vector<RecipeValue> m_values; ///< of the choices
};

class RecipeEdits;

/// One step of undo: the recipe with this choice or number. Numbers of one field in a row become one step.
void applyField(RecipeEdits& edits, const RecipeField& field, double value);

/// One step of undo: what the recipe began with. Types of activations and weights that go together go back together.
void resetField(RecipeEdits& edits, const RecipeField& field);

/// All of them, in the order to show.
const std::vector<RecipeField>& recipeFields();

} // namespace qs
