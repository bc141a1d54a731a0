// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/origin/name_scopes.h"

#include <algorithm>

namespace qs {

namespace {

std::vector<std::string_view> split(std::string_view text, char separator)
{
    std::vector<std::string_view> parts;
    while (true) {
        const size_t at = text.find(separator);
        parts.push_back(text.substr(0, at));
        if (at == std::string_view::npos)
            return parts;
        text.remove_prefix(at + 1);
    }
}

/// "Class::name" and "Class[name]" are the name.
std::string_view withoutClass(std::string_view part)
{
    if (const size_t colons = part.rfind("::"); colons != std::string_view::npos)
        return part.substr(colons + 2);
    const size_t open = part.find('[');
    if (open != std::string_view::npos && part.back() == ']')
        return part.substr(open + 1, part.size() - open - 2);
    return part;
}

bool isWord(std::string_view part)
{
    return !part.empty() && std::ranges::any_of(part, [](char c) { return c != '.' && c != '_'; });
}

void addDotted(std::string_view part, std::vector<std::string>& scopes)
{
    for (const std::string_view piece : split(part, '.'))
        if (isWord(piece))
            scopes.emplace_back(piece);
}

} // namespace

std::vector<std::string> nameScopes(std::string_view name)
{
    name = name.substr(0, name.find(';'));
    std::vector<std::string> scopes;
    const bool slashes = name.find('/') != std::string_view::npos;
    if (!slashes) {
        const size_t last = name.rfind('.');
        if (last != std::string_view::npos)
            addDotted(name.substr(0, last), scopes);
        return scopes;
    }
    std::string_view before;
    std::vector<std::string_view> parts = split(name, '/');
    parts.pop_back();
    for (const std::string_view whole : parts) {
        const std::string_view part = withoutClass(whole);
        const bool repeats
            = !before.empty() && part.size() > before.size() && part.starts_with(before) && part[before.size()] == '.';
        addDotted(repeats ? part.substr(before.size() + 1) : part, scopes);
        before = part;
    }
    return scopes;
}

std::vector<std::string> dottedParts(std::string_view path)
{
    std::vector<std::string> parts;
    addDotted(path, parts);
    return parts;
}

} // namespace qs
