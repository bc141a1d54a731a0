// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agent/tools/agent_tool.h"

#include "core/base/name_pattern.h"
#include "core/base/text/one_line.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr size_t kLongestText = 4096, kLongestList = 10'000;

AgentJson listSchema(AgentJson items)
{
    return { { "type", "array" }, { "items", std::move(items) }, { "maxItems", kLongestList } };
}

AgentJson schemaOf(const ToolArgument& a)
{
    AgentJson json;
    switch (a.kind) {
    case ArgumentKind::Text:
        json = { { "type", "string" }, { "maxLength", kLongestText } };
        break;
    case ArgumentKind::Whole:
        json = { { "type", "integer" }, { "minimum", a.least } };
        if (a.most != INT64_MAX)
            json["maximum"] = a.most;
        break;
    case ArgumentKind::Truth:
        json = { { "type", "boolean" } };
        break;
    case ArgumentKind::Texts:
        json = listSchema({ { "type", "string" }, { "maxLength", kLongestText } });
        break;
    case ArgumentKind::Wholes:
        json = listSchema({ { "type", "integer" }, { "minimum", 0 } });
        break;
    case ArgumentKind::Object:
        json = { { "type", "object" } };
        break;
    case ArgumentKind::Sizes:
        json = { { "type", "object" },
            { "additionalProperties", listSchema({ { "type", "integer" }, { "minimum", 0 } }) } };
        break;
    }
    json["description"] = a.help;
    if (!a.words.empty())
        json["enum"] = a.words;
    if (a.otherwise)
        json["default"] = *a.otherwise;
    return json;
}

/// 3.0 is a whole number in JSON schema.
std::optional<int64_t> wholeIn(const AgentJson& value)
{
    constexpr double kExact = 9007199254740992.0; // 2^53
    if (value.is_number_unsigned())
        return value.get<uint64_t>() <= uint64_t(INT64_MAX) ? std::optional(value.get<int64_t>()) : std::nullopt;
    if (value.is_number_integer())
        return value.get<int64_t>();
    if (!value.is_number_float())
        return std::nullopt;
    const double number = value.get<double>();
    return std::trunc(number) == number && std::fabs(number) <= kExact ? std::optional(int64_t(number)) : std::nullopt;
}

bool isNatural(const AgentJson& value) { return wholeIn(value).value_or(-1) >= 0; }

bool isText(const AgentJson& value)
{
    return value.is_string() && value.get_ref<const std::string&>().size() <= kLongestText;
}

template <class Fits> bool isListOf(const AgentJson& value, Fits fits)
{
    return value.is_array() && value.size() <= kLongestList && std::ranges::all_of(value, fits);
}

/// "" where it fits; else what it has to be.
std::string wanted(const ToolArgument& a, const AgentJson& value)
{
    switch (a.kind) {
    case ArgumentKind::Text: {
        const bool known = isText(value)
            && (a.words.empty() || std::ranges::find(a.words, value.get_ref<const std::string&>()) != a.words.end());
        std::string list;
        for (const std::string_view word : a.words)
            list += (list.empty() ? "one of " : ", ") + std::string(word);
        return known ? "" : list.empty() ? "a text of at most " + std::to_string(kLongestText) + " bytes" : list;
    }
    case ArgumentKind::Whole: {
        const auto whole = wholeIn(value);
        return whole && *whole >= a.least && *whole <= a.most ? ""
                                                              : "a whole number from " + std::to_string(a.least)
                + (a.most == INT64_MAX ? "" : " to " + std::to_string(a.most));
    }
    case ArgumentKind::Truth:
        return value.is_boolean() ? "" : "true or false";
    case ArgumentKind::Texts:
        return isListOf(value, isText) ? "" : "a list of texts";
    case ArgumentKind::Wholes:
        return isListOf(value, isNatural) ? "" : "a list of whole numbers from 0";
    case ArgumentKind::Object:
        return value.is_object() ? "" : "an object";
    case ArgumentKind::Sizes:
        return value.is_object()
                && std::ranges::all_of(value, [](const AgentJson& list) { return isListOf(list, isNatural); })
            ? ""
            : "an object of lists of whole numbers";
    }
    return {};
}

std::string namesOf(const AgentTool& tool)
{
    std::string list;
    for (const ToolArgument& a : tool.arguments)
        list += (list.empty() ? "" : ", ") + std::string(a.name);
    return list;
}

} // namespace

std::string ToolArguments::text(const char* name, const std::string& otherwise) const
{
    return has(name) ? m_json.at(name).get<std::string>() : otherwise;
}

int64_t ToolArguments::whole(const char* name, int64_t otherwise) const
{
    return has(name) ? wholeIn(m_json.at(name)).value_or(otherwise) : otherwise;
}

bool ToolArguments::truth(const char* name) const { return has(name) && m_json.at(name).get<bool>(); }

std::vector<std::string> ToolArguments::texts(const char* name) const
{
    return has(name) ? m_json.at(name).get<std::vector<std::string>>() : std::vector<std::string>();
}

std::vector<int64_t> ToolArguments::wholes(const char* name) const
{
    std::vector<int64_t> list;
    if (has(name))
        for (const AgentJson& value : m_json.at(name))
            list.push_back(wholeIn(value).value_or(0));
    return list;
}

AgentJson schemaOf(const AgentTool& tool)
{
    AgentJson properties = AgentJson::object(), required = AgentJson::array();
    for (const ToolArgument& a : tool.arguments) {
        properties[std::string(a.name)] = schemaOf(a);
        if (a.required)
            required.push_back(a.name);
    }
    AgentJson schema { { "type", "object" }, { "properties", properties } };
    if (!required.empty())
        schema["required"] = required;
    schema["additionalProperties"] = false;
    return schema;
}

Status checkArguments(const AgentTool& tool, const AgentJson& arguments)
{
    const std::string which(tool.name);
    if (!arguments.is_object())
        return badUse("the arguments of " + which + " are no object", "give an object");
    for (const auto& [name, value] : arguments.items()) {
        const auto known = std::ranges::find(tool.arguments, name, &ToolArgument::name);
        if (known == tool.arguments.end())
            return badUse(which + " has no argument '" + oneLine(name, 80) + "'", "it has " + namesOf(tool));
        if (const std::string other = wanted(*known, value); !other.empty())
            return badUse("the argument '" + name + "' of " + which + " is not possible", "give " + other);
    }
    for (const ToolArgument& a : tool.arguments)
        if (a.required && !arguments.contains(a.name))
            return badUse("the argument '" + std::string(a.name) + "' of " + which + " is missing",
                "give it: " + std::string(a.help));
    return {};
}

std::span<const AgentTool> agentTools()
{
    static const std::vector<AgentTool> all = [] {
        std::vector<AgentTool> tools;
        for (const auto family :
            { openTools, compareTools, tensorTools, recipeTools, sensitivityTools, languageTools, fileTools })
            std::ranges::move(family(), std::back_inserter(tools));
        return tools;
    }();
    return all;
}

const AgentTool* toolNamed(std::string_view name)
{
    const auto tools = agentTools();
    const auto tool = std::ranges::find(tools, name, &AgentTool::name);
    return tool == tools.end() ? nullptr : &*tool;
}

Result<AgentJson> callTool(
    const AgentTool& tool, AgentDesk& desk, const ToolArguments& arguments, const WorkContext& work)
{
    auto answer = tool.call(desk, arguments, work);
    if (answer.ok())
        return answer;
    Issue issue = std::move(answer).issue();
    issue.what = inAgentWords(issue.what);
    issue.remedy = issue.remedy == kNamesRemedy
        ? "call tensor without a name, which lists the tensors and the nodes that make them"
        : inAgentWords(issue.remedy);
    return issue;
}

} // namespace qs
