// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/text/nearest_names.h"

#include "core/base/text/lower_case.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <tuple>
#include <utility>

namespace qs {

namespace {

/// Bytes to insert, leave out or exchange.
size_t changes(const std::string& a, const std::string& b)
{
    std::vector<size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), size_t(0));
    for (size_t i = 0; i < a.size(); ++i) {
        size_t corner = std::exchange(row[0], i + 1);
        for (size_t j = 0; j < b.size(); ++j) {
            const size_t exchanged = corner + (a[i] != b[j]);
            corner = row[j + 1];
            row[j + 1] = std::min({ exchanged, row[j] + 1, corner + 1 });
        }
    }
    return row.back();
}

} // namespace

std::vector<std::string> nearestNames(const std::string& mistyped, const std::vector<std::string>& names, size_t most)
{
    constexpr size_t kLongest = 256; // names are short, and files may come from anywhere
    const std::string wanted = lowerCase(mistyped.substr(0, kLongest));
    std::vector<std::pair<size_t, size_t>> near; // distance, index
    for (size_t i = 0; i < names.size() && !wanted.empty(); ++i) {
        const std::string name = lowerCase(names[i].substr(0, kLongest));
        const bool part = name.find(wanted) != std::string::npos;
        const size_t distance = part ? 0 : changes(wanted, name);
        if (part || (distance < wanted.size() && !name.empty()))
            near.emplace_back(part ? 0 : distance, i);
    }
    const auto shortest = [&](const auto& a, const auto& b) {
        return std::tuple(a.first, names[a.second].size(), a.second)
            < std::tuple(b.first, names[b.second].size(), b.second);
    };
    std::ranges::sort(near, shortest);
    std::vector<std::string> found;
    for (size_t i = 0; i < std::min(most, near.size()); ++i)
        found.push_back(names[near[i].second]);
    return found;
}

} // namespace qs
