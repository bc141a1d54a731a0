// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/files/recipe_rebase.h"

#include "core/quant/recipe/recipe_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

namespace qs {

namespace {

using Json = nlohmann::ordered_json;
using Field = std::optional<Json>; ///< nothing: the field is not there

Field at(const Field& object, const std::string& key)
{
    if (!object || !object->is_object() || !object->contains(key))
        return std::nullopt;
    return (*object)[key];
}

bool isNames(const Field& value)
{
    return value && value->is_array()
        && std::ranges::all_of(*value, [](const Json& entry) { return entry.is_string(); });
}

bool holds(const Field& list, const Json& entry) { return list && std::ranges::find(*list, entry) != list->end(); }

/// Lists of names: what was added and what was taken away.
Json mergedNames(const Field& edited, const Field& before, const Field& onto)
{
    Json merged = Json::array();
    if (onto)
        for (const Json& entry : *onto)
            if (!holds(before, entry) || holds(edited, entry))
                merged.push_back(entry);
    if (edited)
        for (const Json& entry : *edited)
            if (!holds(before, entry) && !holds(merged, entry))
                merged.push_back(entry);
    return merged;
}

Field merged(const Field& edited, const Field& before, const Field& onto)
{
    if (edited == before)
        return onto;
    const auto all = [&](auto is) { return (!edited || is(edited)) && (!before || is(before)) && (!onto || is(onto)); };
    if (all(isNames))
        return mergedNames(edited, before, onto);
    if (!edited || !edited->is_object() || !all([](const Field& v) { return v->is_object(); }))
        return edited;
    std::set<std::string> keys;
    for (const Field* object : { &edited, &before, &onto })
        if (*object)
            for (const auto& [key, value] : (*object)->items())
                keys.insert(key);
    Json result = Json::object();
    for (const std::string& key : keys)
        if (const Field value = merged(at(edited, key), at(before, key), at(onto, key)))
            result[key] = *value;
    return result;
}

} // namespace

Result<Recipe> rebased(const Recipe& edited, const Recipe& before, const Recipe& onto)
{
    const auto json = [](const Recipe& recipe) { return Field(Json::parse(recipeToJson(recipe))); };
    return recipeOf(*merged(json(edited), json(before), json(onto)));
}

std::vector<std::string> withoutVanished(Recipe& added, const Recipe& onto, const Graph& model)
{
    std::vector<std::string> gone;
    const auto isGone = [&](const std::string& name, bool known, bool said) {
        const bool vanished = !known && !said;
        if (vanished)
            gone.push_back(name);
        return vanished;
    };
    std::erase_if(added.tensors, [&](const auto& entry) {
        return isGone(entry.first, model.findValue(entry.first).valid(), onto.tensors.contains(entry.first));
    });
    for (const auto list : { &Recipe::exclude, &Recipe::include })
        std::erase_if(added.*list, [&](const std::string& name) {
            const bool pattern = name.starts_with("re:") || name.find_first_of("*?[") != std::string::npos;
            return isGone(name, pattern || model.findNode(name).valid() || model.findValue(name).valid(),
                std::ranges::find(onto.*list, name) != (onto.*list).end());
        });
    return gone;
}

} // namespace qs
