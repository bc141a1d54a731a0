// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/pairs/masked_values.h"

#include "core/qdq/qlinear_signature.h"

#include <algorithm>

namespace qs {

namespace {

/// Share of the range that lies empty between the mask and the rest.
constexpr double kMostOfRange = 0.5;

} // namespace

std::vector<NodeId> softmaxReaders(const Graph& graph, ValueId value)
{
    constexpr size_t kMost = 16; // values
    std::vector<NodeId> found;
    std::vector<ValueId> front { value };
    for (size_t i = 0; i < front.size(); ++i) {
        if (i == kMost || graph.isOutput(front[i]))
            return {};
        for (const Use& use : graph.value(front[i]).uses) {
            const Node& node = graph.node(use.node);
            if (use.slot != 0 || !node.hasOutput(0))
                return {};
            if (node.opType == "Softmax")
                found.push_back(use.node);
            else if (movesElements(node) || node.opType == "Cast")
                front.push_back(node.outputs[0]);
            else
                return {};
        }
    }
    std::ranges::sort(found);
    return found;
}

std::optional<double> lowestUnmasked(const Histogram& scores)
{
    const std::vector<uint64_t> counts = scores.counts().toVector();
    size_t widest = 0, end = 0, last = 0;
    for (size_t bin = 0; bin < counts.size(); ++bin) {
        if (counts[bin] == 0)
            continue;
        if (bin - last > widest) {
            widest = bin - last;
            end = bin;
        }
        last = bin;
    }
    const double width = scores.binWidth();
    if (widest < 2 || double(widest - 1) * width <= kMostOfRange * (scores.largest() - scores.smallest()))
        return std::nullopt;
    return scores.low() + double(end) * width;
}

} // namespace qs
