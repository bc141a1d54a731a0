// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/recipe/recipe_json.h"

#include "core/base/files/json_text.h"
#include "core/base/files/whole_file.h"
#include "core/quant/recipe/recipe_fields.h"

namespace qs {

namespace {

using Json = RecipeJson;

constexpr const char* kRecipeRemedy = "give a JSON object; {} is ONNX Runtime's defaults";

Json without(const Json& from, const Json& defaults)
{
    Json kept = Json::object();
    for (const auto& [key, value] : from.items()) {
        const auto same = defaults.find(key);
        if (same != defaults.end() && *same == value)
            continue;
        kept[key] = value.is_object() && same != defaults.end() && same->is_object() ? without(value, *same) : value;
    }
    return kept;
}

} // namespace

Result<Recipe> recipeFromJson(const std::string& text)
{
    const auto read = readJson(text);
    if (!read)
        return badInput("is no recipe: it " + read.issue().what, {}, kRecipeRemedy);
    return recipeOf(*read);
}

Result<Recipe> recipeOf(const Json& json)
{
    if (!json.is_object())
        return badInput("is no recipe", {}, kRecipeRemedy);
    if (json.contains("schema_version") && json["schema_version"] != kRecipeVersion)
        return badInput("has schema_version " + json["schema_version"].dump() + ", which this version cannot read", {},
            "use a newer version of this program");
    Recipe recipe;
    if (json.contains("preset")) {
        if (json["preset"] == "quantscope")
            recipe = quantscopeRecipe();
        else if (json["preset"] != "onnxruntime")
            return badInput("names the unknown preset " + json["preset"].dump(), {}, "use quantscope or onnxruntime");
    }
    std::optional<Issue> issue;
    JsonObject object(json, "", issue);
    object.pass("schema_version");
    object.pass("preset");
    readFields(object, recipe);
    object.finish();
    if (!json.contains("weight_type") && recipe.format == RecipeFormat::WeightOnly)
        recipe.weightType = DType::UInt4;
    if (issue)
        return *issue;
    if (const std::string wrong = wrongNumbers(recipe); !wrong.empty())
        return badInput("is no possible recipe: " + wrong, {}, "correct it");
    return recipe;
}

Result<Recipe> readRecipe(const std::string& path)
{
    QS_TRY(const std::string text, readWholeFile(path, "give the path of a recipe"));
    auto recipe = recipeFromJson(text);
    if (recipe)
        return recipe;
    Issue issue = std::move(recipe).issue();
    issue.file = path;
    return issue;
}

std::string recipeToJson(const Recipe& recipe)
{
    Json json = Json::object();
    json["schema_version"] = kRecipeVersion;
    const Json whole = fullJson(recipe), changed = without(whole, fullJson({}));
    for (const auto& [key, value] : changed.items())
        json[key] = value;
    if (recipe.format == RecipeFormat::WeightOnly) // its default is another one
        json["weight_type"] = whole["weight_type"];
    return json.dump(1) + "\n";
}

} // namespace qs
