// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/layout/groups/neighbourhood.h"

#include <limits>

namespace qs {

namespace {

using Neighbours = std::vector<std::vector<uint32_t>>;

/// Marks what is at most `steps` away from the middle.
void spread(const Neighbours& next, const std::vector<uint32_t>& middle, uint32_t steps, std::vector<bool>& kept)
{
    std::vector<bool> seen(next.size());
    std::vector<uint32_t> now = middle;
    for (uint32_t step = 0; !now.empty(); ++step) {
        std::vector<uint32_t> later;
        for (const uint32_t box : now) {
            if (seen[box])
                continue;
            seen[box] = kept[box] = true;
            if (step < steps)
                later.insert(later.end(), next[box].begin(), next[box].end());
        }
        now = std::move(later);
    }
}

std::vector<uint32_t> mapped(const std::vector<uint32_t>& boxes, const std::vector<uint32_t>& drawn)
{
    std::vector<uint32_t> result;
    result.reserve(boxes.size());
    for (const uint32_t box : boxes)
        result.push_back(box == FoldedGraph::kNoBox ? box : drawn[box]);
    return result;
}

} // namespace

std::vector<uint32_t> boxesAround(
    const FoldedGraph& graph, const std::vector<uint32_t>& middle, const Neighbourhood& wanted)
{
    Neighbours above(graph.boxes.size()), below(graph.boxes.size());
    for (const DisplayEdge& edge : graph.edges) {
        below[edge.from].push_back(edge.to);
        above[edge.to].push_back(edge.from);
    }
    constexpr uint32_t all = std::numeric_limits<uint32_t>::max();
    std::vector<bool> kept(graph.boxes.size());
    spread(above, middle, wanted.toInputs ? all : wanted.steps, kept);
    spread(below, middle, wanted.toOutputs ? all : wanted.steps, kept);
    std::vector<uint32_t> found;
    for (uint32_t b = 0; b < kept.size(); ++b)
        if (kept[b])
            found.push_back(b);
    return found;
}

FoldedGraph partOf(const FoldedGraph& whole, const std::vector<uint32_t>& boxes)
{
    FoldedGraph part;
    std::vector<uint32_t> drawn(whole.boxes.size(), FoldedGraph::kNoBox);
    for (const uint32_t b : boxes) {
        drawn[b] = static_cast<uint32_t>(part.boxes.size());
        part.boxes.push_back(whole.boxes[b]);
        part.boxes.back().members = { b };
    }
    for (DisplayEdge edge : whole.edges) {
        edge.from = drawn[edge.from];
        edge.to = drawn[edge.to];
        if (edge.from != FoldedGraph::kNoBox && edge.to != FoldedGraph::kNoBox)
            part.edges.push_back(std::move(edge));
    }
    part.boxOfNode = mapped(whole.boxOfNode, drawn);
    part.boxOfValue = mapped(whole.boxOfValue, drawn);
    return part;
}

} // namespace qs
