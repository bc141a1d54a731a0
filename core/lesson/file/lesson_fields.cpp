// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/lesson/file/lesson_fields.h"

#include "core/base/text/nearest_names.h"
#include "core/base/text/one_line.h"

#include <cmath>

namespace qs {

namespace {

const LessonJson kNoObject = LessonJson::object();

} // namespace

LessonFields::LessonFields(const LessonJson& json, std::string place, std::optional<Issue>& issue)
    : m_json(json.is_object() ? json : kNoObject)
    , m_place(std::move(place))
    , m_issue(issue)
{
    if (!json.is_object() && !m_issue)
        m_issue = badInput((m_place.empty() ? "the lesson" : m_place) + " is no JSON object");
}

bool LessonFields::has(const char* key) const { return m_json.contains(key); }

bool LessonFields::isList(const char* key) const { return has(key) && m_json[key].is_array(); }

const LessonJson* LessonFields::take(const char* key)
{
    m_taken.emplace(key);
    const auto found = m_json.find(key);
    return found == m_json.end() || m_issue ? nullptr : &*found;
}

void LessonFields::fail(const char* key, const std::string& what)
{
    if (!m_issue)
        m_issue = badInput(inner("key '" + std::string(key) + "' " + what));
}

void LessonFields::needed(const char* key)
{
    if (!has(key))
        fail(key, "is missing");
}

std::string LessonFields::text(const char* key)
{
    needed(key);
    std::string value = textOr(key);
    if (has(key) && value.empty())
        fail(key, "is empty");
    return value;
}

std::string LessonFields::textOr(const char* key, const std::string& absent)
{
    const LessonJson* json = take(key);
    if (json && !json->is_string())
        fail(key, "is no text");
    return json && json->is_string() ? json->get<std::string>() : absent;
}

double LessonFields::number(const char* key, double least, double most, double absent)
{
    if (std::isnan(absent))
        needed(key);
    const LessonJson* json = take(key);
    if (!json)
        return std::isnan(absent) ? least : absent;
    const double value = json->is_number() ? json->get<double>() : NAN;
    if (!(value >= least && value <= most)) {
        fail(key, "is no number from " + LessonJson(least).dump() + " to " + LessonJson(most).dump());
        return least;
    }
    return value;
}

size_t LessonFields::whole(const char* key, size_t most, size_t absent)
{
    const double value = number(key, 0, double(most), double(absent));
    if (value != std::floor(value))
        fail(key, "is no whole number");
    return size_t(value);
}

bool LessonFields::truth(const char* key)
{
    const LessonJson* json = take(key);
    if (json && !json->is_boolean())
        fail(key, "is neither true nor false");
    return json && json->is_boolean() && json->get<bool>();
}

std::vector<std::string> LessonFields::texts(const char* key, size_t most)
{
    std::vector<std::string> values;
    if (const LessonJson* json = list(key, most))
        for (const LessonJson& entry : *json) {
            if (!entry.is_string())
                fail(key, "holds something that is no text");
            values.push_back(entry.is_string() ? entry.get<std::string>() : std::string());
        }
    return values;
}

std::optional<Expression> LessonFields::expression(const char* key)
{
    const LessonJson* json = take(key);
    if (!json)
        return std::nullopt;
    Expression constant;
    if (json->is_boolean())
        constant.constant = json->get<bool>();
    else if (json->is_number())
        constant.constant = json->get<double>();
    if (!json->is_string()) {
        if (!json->is_boolean() && !json->is_number())
            fail(key, "is no expression");
        return constant;
    }
    auto parsed = parseExpression(json->get_ref<const std::string&>());
    if (!parsed.ok()) {
        fail(key, "is no expression: " + parsed.issue().what);
        return constant;
    }
    return std::move(parsed).value();
}

Expression LessonFields::neededExpression(const char* key)
{
    needed(key);
    return expression(key).value_or(Expression());
}

const LessonJson* LessonFields::object(const char* key)
{
    const LessonJson* json = take(key);
    if (json && !json->is_object())
        fail(key, "is no object");
    return json && json->is_object() ? json : nullptr;
}

const LessonJson* LessonFields::list(const char* key, size_t most)
{
    const LessonJson* json = take(key);
    if (json && !json->is_array())
        fail(key, "is no list");
    else if (json && json->size() > most)
        fail(key, "has " + std::to_string(json->size()) + " entries, more than " + std::to_string(most));
    return json && json->is_array() && json->size() <= most ? json : nullptr;
}

void LessonFields::finish()
{
    for (const auto& [key, value] : m_json.items()) {
        if (m_issue || m_taken.contains(key))
            continue;
        std::string nearest;
        for (const std::string& name : nearestNames(key, { m_taken.begin(), m_taken.end() }, 1))
            nearest = "; the nearest one is '" + name + "'";
        m_issue = badInput(inner("key '" + oneLine(key, 60) + "' is unknown" + nearest));
    }
}

} // namespace qs
