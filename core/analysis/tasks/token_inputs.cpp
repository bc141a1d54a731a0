// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/tasks/token_inputs.h"

#include "core/base/text/lower_case.h"
#include "core/data/implied_inputs.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <string>

namespace qs {

namespace {

bool has(const std::string& name, std::string_view part) { return name.find(part) != std::string::npos; }

} // namespace

std::optional<TokenInputs> tokenInputs(const Plan& plan, ValueId output)
{
    const auto& dims = plan.facts().of(output).dims;
    if (!dims || dims->size() != 3)
        return std::nullopt;
    const Graph& graph = plan.graph();
    std::optional<size_t> ids;
    bool named = false; // "input_ids" before any other integers
    TokenInputs found;
    for (size_t i = 0; i < graph.inputs().size(); ++i) {
        const ValueId id = graph.inputs()[i];
        const auto& fact = plan.facts().of(id);
        if (!fact.dims || fact.dims->size() != 2)
            continue;
        const std::string name = lowerCase(graph.value(id).name);
        if (has(name, "token_type") || has(name, "segment"))
            return std::nullopt;
        if (has(name, "mask") && !found.mask)
            found.mask = i;
        else if (holdsTokens({ name, fact.dtype, fact.dims }) && (!ids || (has(name, "ids") && !named))) {
            ids = i;
            named = has(name, "ids");
        }
    }
    if (!ids)
        return std::nullopt;
    found.ids = *ids;
    return found;
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
