// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/class_names.h"

#include "core/base/files/json_text.h"
#include "core/base/files/whole_file.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

namespace qs {

namespace {

using json = nlohmann::ordered_json;

constexpr int64_t kMostClasses = 1'000'000;
constexpr JsonLimits kNameLimits { .bytes = size_t(256) << 20, .values = 4 * size_t(kMostClasses), .depth = 8 };

std::optional<int64_t> numberOf(std::string_view text)
{
    int64_t number = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    return whole && number >= 0 && number < kMostClasses ? std::optional(number) : std::nullopt;
}

void put(ClassNames& names, int64_t number, std::string name)
{
    if (names.size() <= size_t(number))
        names.resize(size_t(number) + 1);
    names[size_t(number)] = std::move(name);
}

std::optional<std::string> nameIn(const json& value)
{
    if (value.is_string())
        return value.get<std::string>();
    if (value.is_array() && !value.empty() && value.back().is_string())
        return value.back().get<std::string>();
    return std::nullopt;
}

ClassNames namesIn(const json& value)
{
    ClassNames names;
    if (!value.is_array() && !value.is_object())
        return names;
    int64_t next = 0;
    for (const auto& [key, item] : value.items()) {
        const auto number = value.is_array() ? std::optional(next++) : numberOf(key);
        auto name = nameIn(item);
        if (!number || !name)
            return {};
        put(names, *number, std::move(*name));
    }
    return names;
}

std::string_view trimmed(std::string_view text)
{
    const size_t begin = text.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos)
        return {};
    return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

/// Python's text of a dictionary or list as JSON's: keys in quotes, strings in double quotes.
std::string asJson(std::string_view text)
{
    std::string made;
    for (size_t i = 0; i < text.size(); ++i) {
        const char quote = text[i];
        if (quote >= '0' && quote <= '9') {
            const size_t end = std::min(text.find_first_not_of("0123456789", i), text.size());
            made += '"' + std::string(text.substr(i, end - i)) + '"';
            i = end - 1;
        } else if (quote == '\'' || quote == '"') {
            std::string inner;
            for (++i; i < text.size() && text[i] != quote; ++i) {
                if (text[i] == '\\' && i + 1 < text.size())
                    ++i;
                inner += text[i];
            }
            made += json(inner).dump(-1, ' ', false, json::error_handler_t::replace);
        } else {
            made += quote;
        }
    }
    return made;
}

ClassNames linesOf(std::string_view text)
{
    ClassNames names;
    for (size_t begin = 0; begin <= text.size();) {
        const size_t end = std::min(text.find('\n', begin), text.size());
        names.emplace_back(trimmed(text.substr(begin, end - begin)));
        begin = end + 1;
    }
    while (!names.empty() && names.back().empty())
        names.pop_back();
    return names;
}

} // namespace

std::string className(const ClassNames& names, int64_t number)
{
    if (number < 0)
        return "no class";
    const bool named = number >= 0 && size_t(number) < names.size() && !names[size_t(number)].empty();
    return named ? names[size_t(number)] : std::to_string(number);
}

ClassNames parseClassNames(std::string_view text)
{
    if (text.starts_with("\xef\xbb\xbf"))
        text.remove_prefix(3);
    const std::string_view whole = trimmed(text);
    if (!whole.starts_with('{') && !whole.starts_with('['))
        return linesOf(text);
    auto read = readJson(whole, kNameLimits);
    if (!read)
        read = readJson(asJson(whole), kNameLimits);
    return read ? namesIn(*read) : ClassNames {};
}

Result<ClassNames> readClassNames(const std::string& path)
{
    const char* remedy = "give one name a line, or a JSON list or dictionary of names";
    QS_TRY(const std::string text, readWholeFile(path, remedy));
    if (text.find('\0') != std::string::npos)
        return badInput("is no text", path, remedy);
    ClassNames names = parseClassNames(text);
    if (names.empty())
        return badInput("holds no names of classes", path, remedy);
    return names;
}

ClassNames classNamesIn(const std::map<std::string, std::string>& metadata)
{
    for (const char* key : { "names", "class_names", "classes", "class_labels", "labels" })
        if (const auto it = metadata.find(key); it != metadata.end()) {
            const std::string_view text = trimmed(it->second);
            const bool lines = text.find('\n') != std::string_view::npos;
            if (ClassNames names = parseClassNames(text); names.size() > 1 && (lines || text.find_first_of("[{") == 0))
                return names;
        }
    return {};
}

} // namespace qs
