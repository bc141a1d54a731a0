// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/text/distinct_names.h"

#include "core/base/text/elided.h"
#include "core/base/text/utf8.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace qs {

namespace {

constexpr size_t kNarrowest = 8; ///< that a name is cut to
constexpr size_t kMostParts = 12; ///< of one name: runs are tried in all lengths

/// Paths have '/' between their parts, other names '.' or ':'.
std::string_view separatorsOf(std::string_view name)
{
    return std::ranges::count(name, '/') > 1 ? std::string_view("/") : std::string_view(".:");
}

/// Where parts begin: behind separators, and at both ends.
std::vector<size_t> bordersOf(std::string_view name)
{
    const std::string_view separators = separatorsOf(name);
    std::vector<size_t> borders { 0 };
    for (size_t i = 0; i + 1 < name.size(); ++i)
        if (separators.find(name[i]) != std::string_view::npos)
            borders.push_back(i + 1);
    borders.push_back(name.size());
    if (borders.size() > kMostParts) // the ends of very long paths tell most
        borders.erase(borders.begin() + kMostParts / 2, borders.end() - kMostParts / 2);
    return borders;
}

/// Dots before the gap would seem to be more of it.
std::string headOf(const std::string& name, size_t end)
{
    return name.substr(0, end > 0 && name[end - 1] == '.' ? end - 1 : end);
}

/// A path keeps the '/' on both sides of the gap.
std::string tailOf(const std::string& name, size_t begin)
{
    return name.substr(begin < name.size() && name[begin - 1] == '/' ? begin - 1 : begin);
}

/// The name without one run of parts, for each run that makes it short enough; the longest texts first, and of equally
/// long ones what cuts nearest to the end.
std::vector<std::string> shortForms(const std::string& name, size_t widest)
{
    const std::vector<size_t> borders = bordersOf(name);
    std::vector<std::pair<size_t, std::string>> forms;
    for (size_t from = borders.size() - 1; from-- > 0;)
        for (size_t to = from + 1; to < borders.size(); ++to) {
            if (from == 0 && to + 1 == borders.size())
                continue;
            std::string form = headOf(name, borders[from]) + std::string(kElision) + tailOf(name, borders[to]);
            if (const size_t width = characterCount(form); width <= widest)
                forms.emplace_back(width, std::move(form));
        }
    std::ranges::stable_sort(forms, [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<std::string> texts;
    for (auto& [width, text] : forms)
        texts.push_back(std::move(text));
    return texts;
}

} // namespace

std::vector<std::string> distinctNames(const std::vector<std::string>& names, size_t widest)
{
    std::vector<std::string> shown = names;
    if (widest == 0)
        return shown;
    std::vector<size_t> longOnes;
    std::unordered_map<std::string, std::string> chosen; // by name: equal ones stay equal
    std::unordered_set<std::string> taken;
    for (size_t i = 0; i < names.size(); ++i) {
        if (characterCount(names[i]) > widest)
            longOnes.push_back(i);
        else
            taken.insert(names[i]);
    }
    std::unordered_map<std::string, size_t> uses; // of a form, by how many different names it could stand for
    std::unordered_map<std::string, std::vector<std::string>> forms;
    for (const size_t i : longOnes)
        if (const auto [it, fresh] = forms.try_emplace(names[i]); fresh) {
            it->second = shortForms(names[i], widest);
            for (const std::string& form : it->second)
                ++uses[form];
        }
    for (const size_t i : longOnes) {
        const auto [it, fresh] = chosen.try_emplace(names[i]);
        if (fresh) {
            const std::vector<std::string>& own = forms[names[i]];
            const auto free = [&](const std::string& form) { return uses[form] == 1 && !taken.contains(form); };
            const auto form = std::ranges::find_if(own, free);
            it->second = form == own.end() ? elided(names[i], std::max(widest, kNarrowest)) : *form;
            taken.insert(it->second);
        }
        shown[i] = it->second;
    }
    return shown;
}

std::vector<std::string> distinctFileNames(const std::vector<std::string>& paths)
{
    const auto lastParts = [](const std::string& path, size_t parts) {
        size_t at = path.size() + 1;
        for (; parts > 0 && at > 0; --parts)
            at = at < 2 ? 0 : path.rfind('/', at - 2) + 1;
        return path.substr(at);
    };
    size_t most = 1;
    for (const std::string& path : paths)
        most = std::max(most, size_t(std::ranges::count(path, '/')) + 1);
    const size_t different = std::set(paths.begin(), paths.end()).size();
    const auto names = [&](size_t parts) {
        std::vector<std::string> shown;
        for (const std::string& path : paths)
            shown.push_back(lastParts(path, parts));
        return shown;
    };
    size_t parts = 1;
    const auto areDifferent = [&](const std::vector<std::string>& shown) {
        return std::set(shown.begin(), shown.end()).size() == different;
    };
    while (parts < most && !areDifferent(names(parts)))
        ++parts;
    return names(parts);
}

std::pair<std::string, std::string> distinctFileNames(const std::string& a, const std::string& b)
{
    const std::vector<std::string> names = distinctFileNames(std::vector { a, b });
    return { names[0], names[1] };
}

} // namespace qs
