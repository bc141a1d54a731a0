// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agent/tools/answer_parts.h"

#include "core/base/text/one_line.h"

#include <algorithm>
#include <filesystem>
#include <limits>

namespace qs {

namespace {

constexpr size_t kMostWarnings = 8, kLongestWarning = 400;

} // namespace

const ToolArgument& sessionArgument()
{
    static const ToolArgument argument { .name = "session",
        .help = "name that open gave; without it the session that was used last" };
    return argument;
}

ToolArgument limitArgument(int64_t otherwise, std::string_view what)
{
    return { .name = "limit",
        .kind = ArgumentKind::Whole,
        .help = what,
        .least = 0,
        .most = kMostRows,
        .otherwise = otherwise };
}

const ToolArgument& offsetArgument()
{
    static const ToolArgument argument { .name = "offset",
        .kind = ArgumentKind::Whole,
        .help = "the first to show, from 0: next_offset of the answer before goes on",
        .otherwise = 0 };
    return argument;
}

AnswerWindow windowIn(size_t count, const ToolArguments& arguments, int64_t limit)
{
    const size_t first = std::min(size_t(arguments.whole("offset", 0)), count);
    return { first, std::min(first + size_t(arguments.whole("limit", limit)), count) };
}

AgentJson windowOf(const AgentJson& list, const char* name, const ToolArguments& arguments, int64_t limit,
    const std::function<AgentJson(const AgentJson&, size_t)>& row)
{
    const auto [first, end] = windowIn(list.size(), arguments, limit);
    AgentJson rows = AgentJson::array();
    for (size_t i = first; i < end; ++i)
        rows.push_back(row(list[i], i));
    AgentJson json { { "total", list.size() }, { "offset", first }, { name, std::move(rows) } };
    if (end < list.size())
        json["next_offset"] = end;
    return json;
}

std::vector<AgentJson> worstFirst(std::vector<AgentJson> rows)
{
    std::ranges::stable_sort(rows, {}, [](const AgentJson& row) {
        const AgentJson& sqnr = row.at("sqnr_db");
        return sqnr.is_number() ? sqnr.get<double>() : std::numeric_limits<double>::infinity();
    });
    return rows;
}

void shorten(AgentJson& object, const char* key, size_t most)
{
    const auto list = object.find(key);
    if (list == object.end() || !list->is_array() || list->size() <= most)
        return;
    const size_t total = list->size();
    list->erase(list->begin() + std::ptrdiff_t(most), list->end());
    object[std::string(key) + "_total"] = total;
}

AgentJson picked(const AgentJson& object, std::initializer_list<const char*> keys)
{
    AgentJson json = AgentJson::object();
    for (const char* key : keys)
        if (const auto value = object.find(key); value != object.end())
            json[key] = *value;
    return json;
}

AgentJson headerOf(const AgentDesk& desk, const AgentSession& session)
{
    return { { "session", desk.current() }, { "step", session.step() },
        { "step_text", session.stepText(session.step()) } };
}

Status checkCodesFile(const AllowedFolders& folders, const Recipe& recipe, const std::string& floatPath)
{
    const std::string& file = recipe.codes.file;
    if (file.empty())
        return {};
    QS_CHECK(folders.check((std::filesystem::path(floatPath).parent_path() / file).string()));
    std::error_code error;
    return std::filesystem::exists(file, error) ? folders.check(file) : Status();
}

AgentJson warningsJson(const std::vector<std::string>& warnings)
{
    AgentJson list = AgentJson::array();
    for (size_t i = 0; i < std::min(warnings.size(), kMostWarnings); ++i)
        list.push_back(oneLine(inAgentWords(warnings[i]), kLongestWarning));
    if (warnings.size() > kMostWarnings)
        list.push_back("and " + std::to_string(warnings.size() - kMostWarnings) + " more");
    return list;
}

} // namespace qs
