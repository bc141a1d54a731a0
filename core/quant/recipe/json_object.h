// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/quant/recipe/recipe_value.h"

#include <nlohmann/json.hpp>

#include <set>

namespace qs {

using RecipeJson = nlohmann::ordered_json;

RecipeJson toJson(const RecipeValue& value);

/// Reads an object key by key. Of all that is wrong in it and in what it holds, the first issue is kept: it names the
/// path.
class JsonObject {
public:
    /// `path`: of the object, with a dot at its end unless it is the whole document.
    JsonObject(const RecipeJson& json, std::string path, std::optional<Issue>& issue);

    /// Sets the member where the key is there.
    template <class Owner> void read(std::string_view key, const Setting<Owner>& member, Owner& owner)
    {
        if (const auto value = valueAt(key, member.type))
            member.set(owner, *value);
    }
    /// Calls `inside(object)` with the object of that key, where it is there.
    template <class Inside> void readObject(const std::string& key, Inside inside)
    {
        if (const RecipeJson* json = take(key))
            readInner(key, *json, inside);
    }
    /// An object of objects: `inside(object, value)` for each.
    template <class T, class Inside>
    void readByName(const std::string& key, std::map<std::string, T>& values, Inside inside)
    {
        if (const RecipeJson* json = takeObject(key))
            for (const auto& [name, entry] : json->items())
                readInner(
                    key + "." + name, entry, [&, &name = name](JsonObject& inner) { inside(inner, values[name]); });
    }
    /// A list of objects, not empty; it replaces the values.
    template <class T, class Inside> void readList(const std::string& key, std::vector<T>& values, Inside inside)
    {
        const RecipeJson* json = takeList(key);
        if (!json)
            return;
        values.assign(json->size(), {});
        for (size_t i = 0; i < values.size(); ++i)
            readInner(key + "." + std::to_string(i), (*json)[i], [&](JsonObject& inner) { inside(inner, values[i]); });
    }
    /// The key may be there; it is read elsewhere.
    void pass(std::string_view key) { m_taken.emplace(key); }
    /// Keys that nobody asked for are mistakes.
    void finish();

private:
    const RecipeJson* take(std::string_view key);
    const RecipeJson* takeObject(std::string_view key);
    const RecipeJson* takeList(std::string_view key);
    std::optional<RecipeValue> valueAt(std::string_view key, const SettingType& type);
    void fail(std::string_view key, const std::string& wanted);
    template <class Inside> void readInner(const std::string& key, const RecipeJson& json, Inside inside)
    {
        JsonObject inner(json, m_path + key + ".", m_issue);
        inside(inner);
        inner.finish();
    }

    const RecipeJson& m_json;
    std::string m_path;
    std::optional<Issue>& m_issue;
    std::set<std::string, std::less<>> m_taken;
};

} // namespace qs
