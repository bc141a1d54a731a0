// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/arithmetic/saturating_node.h"

#include <algorithm>

namespace qs {

const WeightRow* weightOf(const Comparison& comparison, NodeId quantNode)
{
    const auto found = std::ranges::find_if(
        comparison.weights, [&](const WeightRow& row) { return row.quantNode == quantNode && !row.bias; });
    return found == comparison.weights.end() ? nullptr : &*found;
}

const ActivationRow* madeBy(const Comparison& comparison, NodeId quantNode)
{
    const ActivationRow* first = nullptr;
    for (const ActivationRow& row : comparison.activations) {
        if (row.quantNode != quantNode)
            continue;
        if (row.quantizer)
            return &row;
        first = first ? first : &row;
    }
    return first;
}

std::string floatNodeOf(const Comparison& comparison, NodeId quantNode)
{
    if (const WeightRow* weight = weightOf(comparison, quantNode))
        return weight->node;
    const ActivationRow* made = madeBy(comparison, quantNode);
    return made ? made->node : std::string();
}

double saturatingShare(const Comparison& comparison)
{
    uint64_t pairs = 0, saturated = 0;
    for (const SaturationRow& row : comparison.saturation) {
        pairs += row.pairs;
        saturated += row.saturatedPairs();
    }
    return pairs ? double(saturated) / double(pairs) : 0;
}

Inputs measuredAlone(Inputs inputs)
{
    inputs.other = {};
    inputs.histograms = inputs.nodeAlone = false;
    return inputs;
}

SnapshotPtr withoutMemory(const Snapshot& snapshot)
{
    auto start = std::make_shared<Snapshot>(snapshot);
    start->caches.pairs = nullptr;
    return start;
}

} // namespace qs
