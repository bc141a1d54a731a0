// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/name_pattern.h"

#include <algorithm>
#include <regex>
#include <string_view>

namespace qs {

namespace {

/// Iterative glob match with one point to come back to.
bool globMatches(std::string_view pattern, std::string_view name)
{
    size_t p = 0, n = 0, star = std::string_view::npos, mark = 0;
    while (n < name.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            mark = n;
        } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
            ++p;
            ++n;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            n = ++mark;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*')
        ++p;
    return p == pattern.size();
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
    if (isRegex(pattern)) {
        try {
            const std::regex regex(pattern.substr(3), std::regex::ECMAScript);
            for (size_t i = 0; i < names.size(); ++i)
                if (std::regex_search(names[i], regex))
                    found.push_back(i);
        } catch (const std::regex_error& e) {
            return badUse("'" + pattern + "' is no regular expression: " + e.what(), "mend it or use a glob");
        }
    } else if (isGlob(pattern)) {
        for (size_t i = 0; i < names.size(); ++i)
            if (globMatches(pattern, names[i]))
                found.push_back(i);
    }
    if (found.empty())
        return badInput(
            "nothing is named '" + pattern + "'", {}, "`run --all-tensors --out F.npz` and Netron show the names");
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
