// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/origin/python_text.h"

#include <algorithm>
#include <optional>

namespace qs {

namespace {

constexpr size_t kMostStrings = 200;

void skipSpaces(std::string_view& text) { text.remove_prefix(std::min(text.find_first_not_of(' '), text.size())); }

bool take(std::string_view& text, char c)
{
    skipSpaces(text);
    if (!text.starts_with(c))
        return false;
    text.remove_prefix(1);
    return true;
}

/// A literal in either quotes; of escapes the character behind the backslash is kept.
std::optional<std::string> literal(std::string_view& text)
{
    skipSpaces(text);
    const char quote = text.empty() ? ' ' : text.front();
    if (quote != '\'' && quote != '"')
        return std::nullopt;
    std::string value;
    for (size_t i = 1; i < text.size(); ++i) {
        if (text[i] == quote) {
            text.remove_prefix(i + 1);
            return value;
        }
        if (text[i] == '\\' && i + 1 < text.size())
            ++i;
        value += text[i];
    }
    return std::nullopt;
}

} // namespace

std::vector<std::string> pythonStrings(std::string_view text)
{
    std::vector<std::string> strings;
    if (!take(text, '['))
        return {};
    while (strings.size() < kMostStrings) {
        auto next = literal(text);
        if (!next)
            return {};
        strings.push_back(std::move(*next));
        if (take(text, ']'))
            return strings;
        if (!take(text, ','))
            return {};
    }
    return {};
}

} // namespace qs
