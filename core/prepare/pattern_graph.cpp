// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/prepare/pattern_graph.h"

#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>

namespace qs {

PatternGraph::PatternGraph(const GraphDraft& draft)
    : m_draft(draft)
{
    for (size_t n = 0; n < draft.nodes.size(); ++n) {
        for (const std::string& out : draft.nodes[n].outputs)
            if (!out.empty())
                m_producers.emplace(out, n);
        for (const std::string& in : draft.nodes[n].inputs)
            if (!in.empty())
                m_readers[in].push_back(n);
    }
}

std::optional<size_t> PatternGraph::producer(const std::string& name) const
{
    const auto it = m_producers.find(name);
    return it == m_producers.end() ? std::nullopt : std::optional(it->second);
}

const DraftNode* PatternGraph::made(const std::string& name, std::string_view type, std::set<size_t>& used) const
{
    const auto index = producer(name);
    if (!index || !m_draft.nodes[*index].is(type))
        return nullptr;
    used.insert(*index);
    return &m_draft.nodes[*index];
}

const std::vector<size_t>& PatternGraph::readers(const std::string& name) const
{
    static const std::vector<size_t> none;
    const auto it = m_readers.find(name);
    return it == m_readers.end() ? none : it->second;
}

const DraftNode* PatternGraph::onlyReader(const std::string& name, std::string_view type, std::set<size_t>& used) const
{
    const auto& all = readers(name);
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
                        graph.readers(out), [&](size_t reader) { return pattern.nodes.contains(reader); }));
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
