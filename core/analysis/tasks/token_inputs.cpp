// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/tasks/token_inputs.h"

#include "core/analysis/tasks/position_paths.h"
#include "core/base/text/lower_case.h"
#include "core/base/text/name_words.h"
#include "core/data/implied_inputs.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace qs {

namespace {

bool has(const std::string& name, std::string_view part) { return name.find(part) != std::string::npos; }

/// Words of a name that tell whose tokens or mask it is.
std::vector<std::string> ownWords(const std::string& name)
{
    constexpr std::array<std::string_view, 12> kUsual { "input", "inputs", "ids", "id", "token", "tokens", "attention",
        "mask", "padding", "key", "text", "prompt" };
    std::vector<std::string> words = nameWords(name);
    std::erase_if(words,
        [&](const std::string& word) { return word.empty() || std::ranges::find(kUsual, word) != kUsual.end(); });
    return words;
}

/// The one in the list, where it is one.
std::optional<size_t> only(const std::vector<size_t>& list)
{
    return list.size() == 1 ? std::optional(list[0]) : std::nullopt;
}

/// Which of them the output goes on with: by what its positions are made of, else by name.
std::optional<size_t> readText(const Plan& plan, ValueId output, const std::vector<size_t>& tokens)
{
    const Graph& graph = plan.graph();
    const std::set<ValueId> placed = inputsByPosition(plan, output);
    std::vector<size_t> reached, named;
    for (const size_t i : tokens)
        if (placed.contains(graph.inputs()[i]))
            reached.push_back(i);
    // Positions that reals are given for, as embedded words, are no tokens' that stand beside them.
    if (reached.empty() && std::ranges::any_of(placed, [&](ValueId id) { return isFloat(plan.facts().of(id).dtype); }))
        return std::nullopt;
    const std::vector<size_t>& left = reached.empty() ? tokens : reached;
    if (const auto one = only(left))
        return one;
    const auto choose = [&](std::string_view part) {
        named.clear();
        std::ranges::copy_if(left, std::back_inserter(named),
            [&](size_t i) { return has(lowerCase(graph.value(graph.inputs()[i]).name), part); });
        return only(named);
    };
    const auto decoders = choose("decoder");
    return decoders ? decoders : choose("ids");
}

/// The mask of this text; where there is one text alone, the only mask that is not said to be another's.
std::optional<size_t> maskOf(const Graph& graph, size_t ids, const std::vector<size_t>& masks, bool oneText)
{
    const std::vector<std::string> words = ownWords(graph.value(graph.inputs()[ids]).name);
    for (const size_t i : masks)
        if (ownWords(graph.value(graph.inputs()[i]).name) == words)
            return i;
    const auto tells
        = [](const std::string& word) { return word == "decoder" || word == "encoder" || word == "cross"; };
    if (!oneText || std::ranges::any_of(words, tells))
        return std::nullopt;
    for (const size_t i : masks)
        if (std::ranges::none_of(ownWords(graph.value(graph.inputs()[i]).name), tells))
            return i;
    return std::nullopt;
}

} // namespace

std::optional<TokenInputs> tokenInputs(const Plan& plan, ValueId output)
{
    const auto& dims = plan.facts().of(output).dims;
    if (!dims || dims->size() != 3)
        return std::nullopt;
    const Graph& graph = plan.graph();
    std::vector<size_t> tokens, masks;
    for (size_t i = 0; i < graph.inputs().size(); ++i) {
        const ValueId id = graph.inputs()[i];
        const auto& fact = plan.facts().of(id);
        if (!fact.dims || fact.dims->size() != 2)
            continue;
        const std::string name = lowerCase(graph.value(id).name);
        if (has(name, "token_type") || has(name, "segment"))
            return std::nullopt;
        if (has(name, "mask"))
            masks.push_back(i);
        else if (holdsTokens({ name, fact.dtype, fact.dims }))
            tokens.push_back(i);
    }
    const auto ids = tokens.empty() ? std::nullopt : readText(plan, output, tokens);
    if (!ids)
        return std::nullopt;
    return TokenInputs { *ids, maskOf(graph, *ids, masks, tokens.size() == 1) };
}

std::vector<PromptTokens> promptTokens(
    const TokenInputs& inputs, std::span<const Tensor> feed, size_t samples, size_t positions, size_t vocabulary)
{
    const std::vector<int64_t> ids = toInts(feed[inputs.ids]);
    const auto isWord = [&](int64_t id) { return id >= 0 && size_t(id) < vocabulary; };
    if (samples == 0 || ids.size() != samples * positions || !std::ranges::all_of(ids, isWord))
        return {};
    const std::vector<int64_t> mask
        = inputs.mask && feed[*inputs.mask].valid() ? toInts(feed[*inputs.mask]) : std::vector<int64_t>();
    const size_t width = mask.size() / samples; // longer than the ids where a past is given
    std::vector<PromptTokens> prompts(samples);
    for (size_t s = 0; s < samples; ++s) {
        const auto first = ids.begin() + ptrdiff_t(s * positions);
        prompts[s].ids.assign(first, first + ptrdiff_t(positions));
        prompts[s].counts.assign(positions, 1);
        for (size_t i = 0; width >= positions && i < positions; ++i)
            prompts[s].counts[i] = mask[(s + 1) * width - positions + i] != 0;
    }
    return prompts;
}

} // namespace qs
