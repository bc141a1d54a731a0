// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/lesson/file/own_names.h"

#include "core/base/text/one_line.h"

#include <array>

namespace qs {

namespace {

constexpr std::array<std::string_view, 8> kByName { "tensor", "weight", "node", "input", "output", "sensitivity",
    "element", "float_element" };

bool isWordByte(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/// Behind "word(" and spaces: where a text in quotes begins; npos for anything else.
size_t quoteAfter(const std::string& text, size_t end)
{
    if (end >= text.size() || text[end] != '(')
        return std::string::npos;
    const size_t at = text.find_first_not_of(" \n\t", end + 1);
    return at != std::string::npos && (text[at] == '\'' || text[at] == '"') ? at : std::string::npos;
}

} // namespace

std::string nameInModel(const std::string& text)
{
    for (const std::string_view word : kByName)
        for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
            const size_t quote = quoteAfter(text, at + word.size());
            if (quote == std::string::npos || (at > 0 && isWordByte(text[at - 1])))
                continue;
            const size_t end = std::min(text.find(text[quote], quote + 1), text.size());
            return oneLine(std::string(word) + "(" + text.substr(quote, end + 1 - quote) + ")", 80);
        }
    return {};
}

std::string nameInModel(const LessonJson& json)
{
    if (json.is_string())
        return nameInModel(json.get_ref<const std::string&>());
    if (!json.is_structured())
        return {};
    for (const auto& [key, value] : json.items()) {
        std::string found = nameInModel(key);
        if (found.empty())
            found = nameInModel(value);
        if (!found.empty())
            return found;
    }
    return {};
}

} // namespace qs
