// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/name_pattern.h"

#include "core/base/text/regex.h"

#include <algorithm>

namespace qs {

namespace {

/// A glob as a regular expression over bytes: names need not be valid UTF-8. `?` is a character of it, or a byte that
/// is in none.
Regex regexOfGlob(const std::string& glob)
{
    constexpr const char* kCharacter
        = R"((?:[\xC0-\xDF][\x80-\xBF]|[\xE0-\xEF][\x80-\xBF]{2}|[\xF0-\xF7][\x80-\xBF]{3}|.))";
    std::string regex = "(?s)^";
    for (const char& c : glob)
        regex += c == '*' ? ".*" : c == '?' ? kCharacter : Regex::quoted({ &c, 1 });
    return Regex(regex + "$", Regex::Text::Bytes);
}

bool isRegex(const std::string& text) { return text.starts_with("re:"); }

bool isGlob(const std::string& text) { return text.find_first_of("*?") != std::string::npos; }

} // namespace

bool isNamePattern(const std::string& text) { return isRegex(text) || isGlob(text); }

Result<std::vector<size_t>> matchNames(const std::string& pattern, const std::vector<std::string>& names)
{
    std::vector<size_t> found;
    for (size_t i = 0; i < names.size(); ++i)
        if (names[i] == pattern)
            found.push_back(i);
    if (!found.empty())
        return found;
    if (isNamePattern(pattern)) {
        const Regex regex = isRegex(pattern) ? Regex(pattern.substr(3)) : regexOfGlob(pattern);
        if (!regex.fault().empty())
            return badUse("'" + pattern + "' is no regular expression: " + regex.fault(), "mend it or use a glob");
        for (size_t i = 0; i < names.size(); ++i)
            if (regex.matchesPart(names[i]))
                found.push_back(i);
    }
    if (found.empty())
        return badInput("nothing is named '" + pattern + "'", {}, std::string(kNamesRemedy));
    return found;
}

std::vector<std::string> splitPatterns(const std::vector<std::string>& options, const std::vector<std::string>& names)
{
    std::vector<std::string> patterns;
    for (const std::string& option : options) {
        if (isRegex(option) || std::ranges::find(names, option) != names.end()) {
            patterns.push_back(option);
            continue;
        }
        for (size_t begin = 0; begin <= option.size();) {
            const size_t end = std::min(option.find(',', begin), option.size());
            if (end > begin)
                patterns.push_back(option.substr(begin, end - begin));
            begin = end + 1;
        }
    }
    return patterns;
}

} // namespace qs
