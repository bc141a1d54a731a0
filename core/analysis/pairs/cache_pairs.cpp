// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/pairs/cache_pairs.h"

#include "core/base/text/name_words.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace qs {

namespace {

/// Words that say before or after, and not of what.
bool tellsTime(std::string_view word)
{
    constexpr std::array<std::string_view, 15> kTimes { "past", "pasts", "present", "presents", "old", "new", "prev",
        "previous", "next", "updated", "in", "out", "input", "output", "current" };
    return std::ranges::find(kTimes, word) != kTimes.end();
}

/// What is left of a name without the words that tell time: equal for the two ends of a cache.
std::string cacheName(const std::string& name)
{
    const std::vector<std::string> words = nameWords(name);
    std::string left;
    for (size_t i = 0; i < words.size(); ++i) {
        if (!tellsTime(words[i])) {
            left += words[i] + '.';
            continue;
        }
        const bool all = i + 2 < words.size() && words[i + 1] == "key" && words[i + 2] == "values";
        i += all ? 2 : 0; // past_key_values names the whole list
    }
    return left;
}

bool canBeCache(const ValueType& type)
{
    const size_t rank = type.dims ? type.dims->size() : 0;
    return rank >= 3 || (rank == 2 && isFloat(type.dtype));
}

} // namespace

bool saysItIsCache(const std::string& name)
{
    constexpr std::array<std::string_view, 14> kWords { "past", "pasts", "present", "presents", "cache", "caches", "kv",
        "key", "keys", "value", "values", "state", "states", "memory" };
    return std::ranges::any_of(
        nameWords(name), [&](const std::string& word) { return std::ranges::find(kWords, word) != kWords.end(); });
}

CarryNames cachePairs(const Graph& graph, bool anyType)
{
    CarryNames pairs;
    for (const ValueId in : graph.inputs()) {
        const Value& input = graph.value(in);
        const std::string name = canBeCache(input.type) ? cacheName(input.name) : std::string();
        if (name.empty())
            continue;
        std::vector<std::string> found;
        for (const ValueId out : graph.outputs())
            if (const Value& output = graph.value(out); output.name != input.name
                && (anyType || output.type.dtype == input.type.dtype || output.type.dtype == DType::Undefined)
                && cacheName(output.name) == name)
                found.push_back(output.name);
        if (found.size() == 1)
            pairs.emplace_back(found.front(), input.name);
    }
    return pairs;
}

} // namespace qs
