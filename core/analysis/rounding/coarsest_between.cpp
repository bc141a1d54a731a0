// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rounding/coarsest_between.h"

#include "core/qdq/qlinear_signature.h"

#include <algorithm>
#include <set>
#include <vector>

namespace qs {

namespace {

constexpr size_t kMostValues = 64; ///< that are walked through

bool passesElements(const Node& node) { return keepsParams(node) || node.is("Cast") || node.is("Identity"); }

} // namespace

std::optional<Precision> coarsestBetween(const ComparePair& pair, ValueId from, ValueId to)
{
    const Plan& plan = *pair.quantPlan;
    const Graph& graph = plan.graph();
    std::vector<std::pair<ValueId, Precision>> open { { to, Precision::Float32 } };
    std::set<ValueId> seen;
    while (!open.empty() && seen.size() < kMostValues) {
        auto [value, coarsest] = open.back();
        open.pop_back();
        if (value == from)
            return coarsest == Precision::Float32 ? std::nullopt : std::optional(coarsest);
        const NodeId maker = graph.value(value).producer;
        if (!maker.valid() || !seen.insert(value).second)
            continue;
        const Node& node = graph.node(maker);
        const bool plumbing = pair.quantView->isPlumbing(maker);
        if (!plumbing)
            coarsest = std::max(coarsest, precisionOf(plan.facts().of(value).dtype).value_or(Precision::Float32));
        if (node.is("Concat"))
            for (const ValueId in : node.inputs) {
                if (in.valid())
                    open.emplace_back(in, coarsest);
            }
        else if ((plumbing || passesElements(node)) && node.hasInput(0))
            open.emplace_back(node.inputs[0], coarsest);
    }
    return std::nullopt;
}

} // namespace qs
