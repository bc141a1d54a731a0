// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/fuse/element_chains.h"

#include "core/engine/fuse/element_chain.h"

#include <algorithm>
#include <set>

namespace qs {

namespace {

constexpr size_t kMostNodes = 16;

/// Finds chains from their first nodes on.
class ChainFinder {
public:
    ChainFinder(const LoweredGraph& lowered, const std::vector<bool>& taken)
        : m_lowered(lowered)
        , m_graph(lowered.graph())
        , m_taken(taken)
        , m_readers(m_graph.values().size())
    {
        m_taken.resize(m_graph.nodes().size(), false);
        for (size_t n = 0; n < m_graph.nodes().size(); ++n)
            for (const auto& list : { m_graph.nodes()[n].inputs, m_graph.nodes()[n].captures })
                for (ValueId in : list)
                    if (in.valid())
                        m_readers[in.index()].push_back(NodeId(n));
    }

    std::vector<FusedUnit> find()
    {
        std::vector<FusedUnit> units;
        for (size_t n = 0; n < m_graph.nodes().size(); ++n) {
            const NodeId id(n);
            const LoweredGraph::Step& step = m_lowered.step(id);
            if (m_taken[n] || step.folded || !step.lowered || (!step.lowered->runInPieces && !isElementWise(id)))
                continue;
            const std::vector<NodeId> nodes = grow(id);
            if (nodes.size() < 2)
                continue;
            for (NodeId member : nodes)
                m_taken[member.index()] = true;
            units.push_back(makeChainUnit(m_lowered, nodes));
        }
        return units;
    }

private:
    bool isElementWise(NodeId id) const
    {
        const LoweredGraph::Step& step = m_lowered.step(id);
        return !m_taken[id.index()] && !step.folded && step.lowered && step.lowered->element;
    }

    ValueId output(NodeId id) const { return m_graph.node(id).outputs[0]; }

    /// Everything but the last node's output stays inside.
    bool closed(const std::vector<NodeId>& nodes) const
    {
        return std::all_of(nodes.begin(), nodes.end() - 1, [&](NodeId id) {
            const ValueId out = output(id);
            return !m_graph.isOutput(out) && std::ranges::all_of(m_readers[out.index()], [&](NodeId reader) {
                return std::ranges::find(nodes, reader) != nodes.end();
            });
        });
    }

    /// The longest chain that begins with this node.
    std::vector<NodeId> grow(NodeId first) const
    {
        std::vector<NodeId> nodes { first };
        size_t best = 1;
        std::set<NodeId> next;
        auto addReaders = [&](NodeId id) {
            const auto& readers = m_readers[output(id).index()];
            for (NodeId reader : readers)
                if (isElementWise(reader) && std::ranges::find(nodes, reader) == nodes.end())
                    next.insert(reader);
        };
        if (m_graph.node(first).outputs.size() != 1)
            return nodes;
        addReaders(first);
        while (!next.empty() && nodes.size() < kMostNodes) {
            const NodeId id = *next.begin();
            next.erase(next.begin());
            nodes.push_back(id);
            if (closed(nodes))
                best = nodes.size();
            addReaders(id);
        }
        nodes.resize(best);
        return nodes;
    }

    const LoweredGraph& m_lowered;
    const Graph& m_graph;
    std::vector<bool> m_taken;
    std::vector<std::vector<NodeId>> m_readers; ///< by value
};

} // namespace

std::vector<FusedUnit> elementChains(const LoweredGraph& lowered, const std::vector<bool>& taken)
{
    return ChainFinder(lowered, taken).find();
}

} // namespace qs
