// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/prepare/fuse/pattern_graph.h"

#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>

namespace qs {

const DraftNode* PatternGraph::made(const std::string& name, std::string_view type, std::set<size_t>& used) const
{
    const size_t index = m_links.producer(name);
    if (index == SIZE_MAX || !m_draft.nodes[index].is(type))
        return nullptr;
    used.insert(index);
    return &m_draft.nodes[index];
}

const DraftNode* PatternGraph::onlyReader(const std::string& name, std::string_view type, std::set<size_t>& used) const
{
    const auto& all = m_links.readers(name);
    if (all.size() != 1 || m_draft.isOutput(name) || !m_draft.nodes[all.front()].is(type))
        return nullptr;
    used.insert(all.front());
    return &m_draft.nodes[all.front()];
}

std::optional<double> PatternGraph::scalar(const std::string& name) const
{
    const Tensor* constant = m_draft.constant(name);
    const bool real = constant && (constant->dtype() == DType::Float32 || constant->dtype() == DType::Float16);
    return real && constant->count() == 1 ? std::optional(elementAsDouble(*constant, 0)) : std::nullopt;
}

bool PatternGraph::isScalar(const std::string& name, double value) const
{
    constexpr double kTolerance = 1e-3; // float16 constants
    const auto found = scalar(name);
    return found && std::abs(*found - value) <= kTolerance * std::abs(value);
}

std::string otherInput(const DraftNode& node, const std::string& name)
{
    if (node.inputs.size() != 2)
        return {};
    return node.inputs[0] == name ? node.inputs[1] : node.inputs[1] == name ? node.inputs[0] : std::string();
}

std::string besideScalar(const PatternGraph& graph, const DraftNode& node, double value)
{
    if (node.inputs.size() != 2)
        return {};
    return graph.isScalar(node.inputs[1], value) ? node.inputs[0]
        : graph.isScalar(node.inputs[0], value)  ? node.inputs[1]
                                                 : std::string();
}

namespace {

/// Nothing outside reads what lies between.
bool isClosed(const PatternGraph& graph, const FoundPattern& pattern)
{
    const GraphDraft& draft = graph.draft();
    return std::ranges::all_of(pattern.nodes, [&](size_t n) {
        return n == pattern.last || std::ranges::all_of(draft.nodes[n].outputs, [&](const std::string& out) {
            return out.empty()
                || (!draft.isOutput(out) && !draft.isCaptured(out)
                    && std::ranges::all_of(
                        graph.links().readers(out), [&](size_t reader) { return pattern.nodes.contains(reader); }));
        });
    });
}

} // namespace

void applyPatterns(GraphDraft& draft, std::vector<FoundPattern> found, bool possible, PassReport& report)
{
    std::set<size_t> taken;
    std::unordered_map<size_t, DraftNode> replacements;
    const PatternGraph graph(draft);
    for (FoundPattern& pattern : found) {
        const bool overlaps = std::ranges::any_of(pattern.nodes, [&](size_t n) { return taken.contains(n); });
        if (overlaps || !isClosed(graph, pattern))
            continue;
        taken.insert(pattern.nodes.begin(), pattern.nodes.end());
        if (!possible) {
            for (size_t n : pattern.nodes)
                report.keepFloat.push_back(draft.nodes[n].name);
            continue;
        }
        const DraftNode& last = draft.nodes[pattern.last];
        pattern.node.name = last.name;
        pattern.node.outputs = last.outputs;
        pattern.node.namedAfter = last.origin;
        std::vector<OriginOf> sources;
        for (const size_t n : pattern.nodes)
            sources.push_back(originOf(draft.nodes[n]));
        pattern.node.cameFrom
            = fusedOrigin(sources, size_t(std::distance(pattern.nodes.begin(), pattern.nodes.find(pattern.last))));
        replacements.emplace(pattern.last, std::move(pattern.node));
        ++report.changes;
    }
    if (!possible || taken.empty())
        return;
    std::vector<DraftNode> kept;
    for (size_t n = 0; n < draft.nodes.size(); ++n) {
        if (const auto it = replacements.find(n); it != replacements.end())
            kept.push_back(std::move(it->second));
        else if (!taken.contains(n))
            kept.push_back(std::move(draft.nodes[n]));
    }
    draft.nodes = std::move(kept);
    draft.dropUnusedConstants();
}

} // namespace qs
