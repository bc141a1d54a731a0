// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/recipe/json_object.h"

#include <algorithm>
#include <limits>

namespace qs {

namespace {

using Json = RecipeJson;

/// Of at most 32 bits: whatever is counted, indexed or coded has fewer.
bool isWhole(const Json& json)
{
    if (json.is_number_unsigned())
        return json.get<uint64_t>() <= uint64_t(std::numeric_limits<int32_t>::max());
    return json.is_number_integer() && json.get<int64_t>() >= std::numeric_limits<int32_t>::min();
}
bool isNumber(const Json& json) { return json.is_number(); }
bool isText(const Json& json) { return json.is_string(); }

template <class T> std::optional<RecipeValue> valueIf(bool fits, const Json& json)
{
    return fits ? std::optional<RecipeValue>(json.get<T>()) : std::nullopt;
}

/// Nothing where JSON says a value of another kind.
std::optional<RecipeValue> fromJson(const Json& json, const SettingType& type)
{
    if (type.optional && json.is_null())
        return RecipeValue();
    switch (type.kind) {
    case SettingKind::Switch:
        return valueIf<bool>(json.is_boolean(), json);
    case SettingKind::Whole:
        return valueIf<int64_t>(isWhole(json) && (!type.natural || json.get<int64_t>() >= 0), json);
    case SettingKind::Real:
        return valueIf<double>(isNumber(json), json);
    case SettingKind::Choice:
        return valueIf<std::string>(
            isText(json) && std::ranges::find(type.names, json.get<std::string>()) != type.names.end(), json);
    case SettingKind::Text:
        return valueIf<std::string>(isText(json), json);
    case SettingKind::Texts:
        return valueIf<std::vector<std::string>>(json.is_array() && std::ranges::all_of(json, isText), json);
    case SettingKind::WholeByName:
        return valueIf<std::map<std::string, int64_t>>(json.is_object() && std::ranges::all_of(json, isWhole), json);
    case SettingKind::RealByName:
        return valueIf<std::map<std::string, double>>(json.is_object() && std::ranges::all_of(json, isNumber), json);
    }
    return std::nullopt;
}

std::string wantedText(const SettingType& type)
{
    switch (type.kind) {
    case SettingKind::Switch:
        return "true or false";
    case SettingKind::Whole:
        return "a whole number of at most 32 bits";
    case SettingKind::Real:
        return "a number";
    case SettingKind::Text:
        return "a text";
    case SettingKind::Texts:
        return "a list of texts";
    case SettingKind::WholeByName:
        return "whole numbers by name";
    case SettingKind::RealByName:
        return "numbers by name";
    case SettingKind::Choice:
        break;
    }
    std::string text = "one of ";
    for (const std::string_view name : type.names)
        text.append(name == type.names.front() ? "" : ", ").append(name);
    return text;
}

} // namespace

Json toJson(const RecipeValue& value)
{
    return std::visit(
        []<class T>(const T& v) -> Json {
            if constexpr (std::is_same_v<T, std::monostate>)
                return nullptr;
            else
                return v;
        },
        value);
}

JsonObject::JsonObject(const Json& json, std::string path, std::optional<Issue>& issue)
    : m_json(json)
    , m_path(std::move(path))
    , m_issue(issue)
{
    if (!json.is_object())
        fail("", "an object");
}

void JsonObject::finish()
{
    if (m_json.is_object())
        for (const auto& [key, value] : m_json.items())
            if (!m_taken.contains(key) && !m_issue)
                m_issue = badInput("has the unknown key '" + m_path + key + "'", {}, "remove or correct it");
}

const Json* JsonObject::take(std::string_view key)
{
    m_taken.emplace(key);
    const auto it = m_json.is_object() ? m_json.find(key) : m_json.end();
    return m_json.is_object() && it != m_json.end() ? &*it : nullptr;
}

const Json* JsonObject::takeObject(std::string_view key)
{
    const Json* json = take(key);
    if (!json || json->is_object())
        return json;
    fail(key, "an object by name");
    return nullptr;
}

const Json* JsonObject::takeList(std::string_view key)
{
    const Json* json = take(key);
    if (!json || (json->is_array() && !json->empty()))
        return json;
    fail(key, "a list of objects");
    return nullptr;
}

std::optional<RecipeValue> JsonObject::valueAt(std::string_view key, const SettingType& type)
{
    const Json* json = take(key);
    if (!json)
        return std::nullopt;
    auto value = fromJson(*json, type);
    if (!value)
        fail(key, wantedText(type));
    return value;
}

void JsonObject::fail(std::string_view key, const std::string& wanted)
{
    const std::string path = m_path + std::string(key);
    if (!m_issue)
        m_issue = badInput(
            path.empty() ? "is no recipe" : "has a '" + path + "' of the wrong kind", {}, "it must be " + wanted);
}

} // namespace qs
