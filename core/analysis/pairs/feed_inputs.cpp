// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/pairs/feed_inputs.h"

#include <algorithm>

namespace qs {

std::vector<Tensor> feedInputs(const Plan& plan, const Graph& floatGraph, const std::vector<CarryLink>& floatCarry,
    const Feed& feed, const std::vector<CarryLink>& carry, const std::vector<Tensor>& state, bool byNameAlone)
{
    const auto isCarried = [](const std::vector<CarryLink>& links, ValueId id) {
        return std::ranges::any_of(links, [&](const CarryLink& link) { return link.input == id; });
    };
    std::vector<ValueId> fed;
    for (const ValueId in : floatGraph.inputs())
        if (!isCarried(floatCarry, in))
            fed.push_back(in);
    const Graph& g = plan.graph();
    std::vector<Tensor> inputs(g.inputs().size());
    std::vector<bool> used(fed.size(), false);
    for (size_t i = 0; i < inputs.size(); ++i)
        for (size_t k = 0; k < fed.size(); ++k)
            if (!used[k] && !isCarried(carry, g.inputs()[i])
                && floatGraph.value(fed[k]).name == g.value(g.inputs()[i]).name) {
                inputs[i] = feed.inputs[k];
                used[k] = true;
            }
    for (size_t i = 0, k = 0; i < inputs.size() && !byNameAlone; ++i) {
        if (inputs[i].valid() || isCarried(carry, g.inputs()[i]))
            continue;
        while (k < used.size() && used[k])
            ++k;
        if (k < used.size()) {
            inputs[i] = feed.inputs[k];
            used[k] = true;
        }
    }
    for (size_t c = 0; c < carry.size(); ++c) {
        const auto position = std::ranges::find(g.inputs(), carry[c].input) - g.inputs().begin();
        inputs[size_t(position)] = c < state.size() && state[c].valid() ? state[c] : initialState(plan, carry[c]);
    }
    return inputs;
}

} // namespace qs
