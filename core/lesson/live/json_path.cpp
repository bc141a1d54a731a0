// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/lesson/live/json_path.h"

#include "core/base/text/nearest_names.h"
#include "core/base/text/one_line.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace qs {

namespace {

/// A short name: a member, and an entry of it where it is a list.
struct ShortName {
    std::string_view name, key;
    int item = -1;
};
constexpr std::array<ShortName, 9> kShortNames { { { "range_low", "range", 0 }, { "range_high", "range", 1 },
    { "observed_low", "observed_range", 0 }, { "observed_high", "observed_range", 1 },
    { "float_low", "float_range", 0 }, { "float_high", "float_range", 1 }, { "clipped", "clipped_fraction" },
    { "added_db", "local_sqnr_db" }, { "channel_count", "scale" } } };

/// Lists of rows that hold a number a channel, and what they are called in a channel's row.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kChannelLists { { { "scale", "scale" },
    { "zero_point", "zero_point" }, { "channel_sqnr_db", "sqnr_db" }, { "channel_saturated", "saturated" } } };

Issue atPart(const std::string& what, const NamedPart& part)
{
    return badInput(what + ", " + placeText(part.position));
}

std::string said(const NamedPart& part) { return "'" + oneLine(part.name, 60) + "'"; }

Result<LessonJson> channelRow(const LessonJson& row, const NamedPart& part)
{
    size_t count = 0;
    for (const auto& [list, name] : kChannelLists)
        if (row.contains(list) && row[list].is_array())
            count = std::max(count, row[list].size());
    QS_TRY(const size_t index, indexOf(part, count));
    LessonJson channel = LessonJson::object();
    for (const auto& [list, name] : kChannelLists)
        if (row.contains(list) && row[list].is_array() && !row[list].empty())
            channel[std::string(name)] = row[list][row[list].size() == 1 ? 0 : std::min(index, row[list].size() - 1)];
    return channel;
}

Result<LessonJson> stepRow(const LessonJson& json, const NamedPart& part)
{
    QS_TRY(const std::string name, textOf(part));
    for (const LessonJson& step : json["steps"])
        if (step["name"] == name)
            return step["value"];
    std::vector<std::string> names;
    for (const LessonJson& step : json["steps"])
        names.push_back(step["name"].get<std::string>());
    const auto nearest = nearestNames(name, names, 1);
    return atPart("there is no step '" + oneLine(name, 60) + "'"
            + (nearest.empty() ? std::string() : "; the nearest one is '" + nearest.front() + "'"),
        part);
}

/// Index of the largest or smallest number of a list; entries that are no numbers are passed over.
std::optional<size_t> extremeOf(const LessonJson& list, bool largest)
{
    std::optional<size_t> best;
    for (size_t i = 0; i < list.size(); ++i) {
        if (!list[i].is_number())
            continue;
        const double value = list[i].get<double>(), held = best ? list[*best].get<double>() : 0;
        if (!best || (largest ? value > held : value < held))
            best = i;
    }
    return best;
}

Result<LessonJson> ofList(const LessonJson& list, const NamedPart& part)
{
    if (part.name == "item" || part.name == "channel") {
        QS_TRY(const size_t index, indexOf(part, list.size()));
        return list[index];
    }
    if (part.name == "count" && !part.called)
        return LessonJson(list.size());
    const bool index = part.name.starts_with("index_of_");
    const std::string_view which = std::string_view(part.name).substr(index ? 9 : 0);
    if ((which == "largest" || which == "smallest") && !part.called) {
        const auto found = extremeOf(list, which == "largest");
        if (!found)
            return atPart(said(part) + " is asked of a list without numbers", part);
        return index ? LessonJson(*found) : list[*found];
    }
    if (list.size() == 1)
        return atPart(said(part) + " is nothing that a number has", part);
    return atPart(said(part)
            + " is nothing that a list has; use item(i), count, largest, smallest, index_of_largest or "
              "index_of_smallest",
        part);
}

Result<LessonJson> ofObject(const LessonJson& json, const NamedPart& part)
{
    if (part.name == "channel" && part.called)
        return channelRow(json, part);
    if (part.name == "term" && part.called && json.contains("terms")) {
        QS_TRY(const size_t index, indexOf(part, json["terms"].size()));
        return json["terms"][index];
    }
    if (part.name == "step" && part.called && json.contains("steps"))
        return stepRow(json, part);
    const auto* const shortName = std::ranges::find(kShortNames, part.name, &ShortName::name);
    if (shortName != kShortNames.end() && !part.called && json.contains(shortName->key)) {
        const LessonJson& member = json[shortName->key];
        if (part.name == "channel_count")
            return LessonJson(member.size());
        if (shortName->item < 0)
            return member;
        return size_t(shortName->item) < member.size() ? member[size_t(shortName->item)] : LessonJson();
    }
    if (!part.called && json.contains(part.name))
        return json[part.name];
    std::vector<std::string> names;
    for (const auto& [key, value] : json.items())
        names.push_back(key);
    const auto nearest = nearestNames(part.name, names, 1);
    return atPart("there is no " + said(part)
            + (nearest.empty() ? std::string() : "; the nearest one is '" + nearest.front() + "'"),
        part);
}

Result<LessonValue> plainValue(const LessonJson& json, const NamedPart& last)
{
    if (json.is_array() && json.size() == 1)
        return plainValue(json.front(), last);
    if (json.is_number() && std::isfinite(json.get<double>()))
        return LessonValue(json.get<double>());
    if (json.is_boolean())
        return LessonValue(json.get<bool>());
    if (json.is_string())
        return LessonValue(json.get<std::string>());
    if (json.is_array() && json.size() > 1)
        return atPart(said(last) + " is a list of " + std::to_string(json.size())
                + "; go on with item(i), channel(i), count, largest or smallest",
            last);
    if (json.is_object())
        return atPart(said(last) + " has several values; go on with a dot and a name", last);
    return atPart(said(last) + " has no value here", last);
}

} // namespace

Result<size_t> indexOf(const NamedPart& part, size_t count)
{
    const double* index = part.arguments.size() == 1 ? std::get_if<double>(&part.arguments.front()) : nullptr;
    if (index && *index >= 0 && *index < double(count) && *index == std::floor(*index))
        return size_t(*index);
    return atPart(part.name + "() takes a whole number "
            + (count > 0 ? "from 0 to " + std::to_string(count - 1) : std::string("but there is nothing to count")),
        part);
}

Result<std::string> textOf(const NamedPart& part)
{
    const auto* text = part.arguments.size() == 1 ? std::get_if<std::string>(&part.arguments.front()) : nullptr;
    if (text)
        return *text;
    return atPart(part.name + "() takes one name in quotes", part);
}

Result<LessonValue> valueAt(const LessonJson& json, std::span<const NamedPart> path)
{
    const LessonJson* at = &json;
    LessonJson held;
    for (const NamedPart& part : path) {
        if (at->is_null() || at->is_primitive())
            return atPart(said(part) + " is asked of what has no value or is a single one", part);
        QS_TRY(LessonJson next, at->is_array() ? ofList(*at, part) : ofObject(*at, part));
        held = std::move(next);
        at = &held;
    }
    static const NamedPart nothing { "this", 1, false, {} };
    return plainValue(*at, path.empty() ? nothing : path.back());
}

} // namespace qs
