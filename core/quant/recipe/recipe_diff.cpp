// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/recipe/recipe_diff.h"

#include "core/base/hash.h"
#include "core/quant/recipe/recipe_fields.h"

#include <set>

namespace qs {

namespace {

using Json = RecipeJson;

void collectChanges(const std::string& path, const Json& before, const Json& after, std::vector<RecipeChange>& changes)
{
    if (before == after)
        return;
    if (!before.is_object() || !after.is_object()) {
        changes.push_back({ path, before.dump(), after.dump() });
        return;
    }
    std::set<std::string> keys;
    for (const auto* side : { &before, &after })
        for (const auto& [key, value] : side->items())
            keys.insert(key);
    for (const std::string& key : keys)
        collectChanges(
            path.empty() ? key : path + "." + key, before.value(key, Json()), after.value(key, Json()), changes);
}

std::string keyOf(const Recipe& recipe, bool (*chosen)(const RecipeOption&))
{
    return hashText(fullJson(recipe, chosen).dump()).hex();
}

} // namespace

std::vector<RecipeChange> recipeDiff(const Recipe& before, const Recipe& after)
{
    std::vector<RecipeChange> changes;
    collectChanges("", fullJson(before), fullJson(after), changes);
    return changes;
}

RecipeKeys recipeKeys(const Recipe& recipe)
{
    Recipe observed = recipe;
    if (isStatic(recipe.format))
        observed.format = RecipeFormat::Qdq; // both static forms look at the same tensors
    using enum RecipeStep;
    return { keyOf(observed, [](const RecipeOption& option) { return option.step == Observation; }),
        keyOf(observed, [](const RecipeOption& option) { return option.step != Graph; }),
        keyOf(recipe, [](const RecipeOption& option) { return option.step != Ranges; }) };
}

} // namespace qs
