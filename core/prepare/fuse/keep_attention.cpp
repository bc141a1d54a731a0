// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/prepare/fuse/pattern_graph.h"

#include <algorithm>

namespace qs {

namespace {

/// What a scaling by a scalar scales; empty where the node is none.
std::string scaled(const PatternGraph& graph, const DraftNode& node)
{
    if (node.inputs.size() != 2)
        return {};
    if (node.is("Div"))
        return graph.scalar(node.inputs[1]) ? node.inputs[0] : std::string();
    if (!node.is("Mul"))
        return {};
    return graph.scalar(node.inputs[1]) ? node.inputs[0]
        : graph.scalar(node.inputs[0])  ? node.inputs[1]
                                        : std::string();
}

/// From the input of a Softmax back to the product of queries and keys.
class Scores {
public:
    explicit Scores(const PatternGraph& graph)
        : m_graph(graph)
    {
    }
    /// Appends the nodes between; null when no product is found.
    const DraftNode* product(const std::string& value, std::set<size_t>& between, int depth = 0) const
    {
        constexpr int kLongest = 6; // scale, masks, a guard
        const size_t index = m_graph.links().producer(value);
        if (index == SIZE_MAX || depth > kLongest || !m_graph.links().readOnce(value))
            return nullptr;
        const DraftNode& node = m_graph.draft().nodes[index];
        if (node.is("MatMul"))
            return &node;
        for (const std::string& before : sources(node)) {
            std::set<size_t> way { index };
            if (const DraftNode* found = product(before, way, depth + 1)) {
                between.merge(way);
                return found;
            }
        }
        return nullptr;
    }

private:
    /// Inputs that the scores may come in by.
    std::vector<std::string> sources(const DraftNode& node) const
    {
        if (const std::string before = scaled(m_graph, node); !before.empty())
            return { before };
        if (node.is("Add") && node.inputs.size() == 2)
            return { node.inputs[0], node.inputs[1] };
        if (node.is("Where") && node.inputs.size() == 3)
            return { node.inputs[1], node.inputs[2] };
        return {};
    }
    const PatternGraph& m_graph;
};

} // namespace

Result<PassReport> keepAttention(GraphDraft& draft)
{
    PassReport report { "keep_attention", 0, {} };
    const PatternGraph graph(draft);
    const Scores scores(graph);
    std::set<size_t> kept;
    for (size_t n = 0; n < draft.nodes.size(); ++n) {
        const DraftNode& softmax = draft.nodes[n];
        if (!softmax.is("Softmax") || softmax.outputs.empty() || !softmax.hasInput(0))
            continue;
        const auto& readers = graph.links().readers(softmax.outputs[0]);
        const bool weighs = std::ranges::any_of(readers, [&](size_t reader) {
            return draft.nodes[reader].is("MatMul") && draft.nodes[reader].inputs[0] == softmax.outputs[0];
        });
        std::set<size_t> between { n };
        const DraftNode* product = weighs ? scores.product(softmax.inputs[0], between) : nullptr;
        if (!product)
            continue;
        kept.merge(between);
        for (const std::string& factor : product->inputs) { // some exporters scale these
            const size_t index = graph.links().producer(factor);
            if (index != SIZE_MAX && !scaled(graph, draft.nodes[index]).empty())
                kept.insert(index);
        }
    }
    for (size_t n : kept)
        report.keepFloat.push_back(draft.nodes[n].name);
    return report;
}

} // namespace qs
