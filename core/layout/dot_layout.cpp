// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/layout/piece_layout.h"

#include <graphviz/gvc.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>

namespace qs {

namespace {

constexpr double kPointsPerInch = 72;
constexpr int kInchDecimals = 6;
constexpr const char* kTrunkWeight = "20"; ///< others weigh 1

/// libgvc keeps global state: one context for the program, used under a mutex.
struct GraphvizContext {
    std::mutex mutex;
    GVC_t* gvc = gvContext();
};

GraphvizContext& context()
{
    static GraphvizContext instance;
    return instance;
}

void set(Agraph_t* graph, int kind, const char* name, const std::string& value)
{
    agattr(graph, kind, const_cast<char*>(name), const_cast<char*>(value.c_str()));
}

void set(void* object, const char* name, const std::string& value)
{
    agsafeset(object, const_cast<char*>(name), const_cast<char*>(value.c_str()), const_cast<char*>(""));
}

/// Graphviz reads it with a decimal point, whatever the locale.
std::string inches(double points)
{
    std::array<char, 64> text {};
    const auto end = std::to_chars(
        text.data(), text.data() + text.size(), points / kPointsPerInch, std::chars_format::fixed, kInchDecimals);
    return { text.data(), end.ptr };
}

/// Boxes that a way over steps of one layer joins with the piece's first (or last) layer.
std::set<uint32_t> joinedBy(const std::vector<DisplayEdge>& steps, std::set<uint32_t> reached, bool downwards)
{
    for (const DisplayEdge& step : steps) // in the order of their layers
        if (reached.contains(downwards ? step.from : step.to))
            reached.insert(downwards ? step.to : step.from);
    return reached;
}

/// Edges on the longest ways through the piece that meet no other such edge at either end: the trunk, which is kept
/// straight beside edges that skip layers.
std::set<uint32_t> trunkEdges(const PieceInput& input)
{
    const auto layer = [&](uint32_t box) { return input.layers[box]; };
    std::vector<uint32_t> ids;
    for (const uint32_t e : input.piece.edges)
        if (layer(input.graph.edges[e].to) == layer(input.graph.edges[e].from) + 1)
            ids.push_back(e);
    std::ranges::stable_sort(ids, {}, [&](uint32_t e) { return layer(input.graph.edges[e].from); });
    std::vector<DisplayEdge> steps;
    for (const uint32_t e : ids)
        steps.push_back({ input.graph.edges[e].from, input.graph.edges[e].to, {}, {}, {} });
    std::set<uint32_t> first, last;
    for (const uint32_t b : input.piece.boxes) {
        if (layer(b) == input.piece.firstLayer)
            first.insert(b);
        if (layer(b) == input.piece.lastLayer)
            last.insert(b);
    }
    const std::set<uint32_t> fromTop = joinedBy(steps, first, true);
    std::ranges::reverse(steps);
    const std::set<uint32_t> toBottom = joinedBy(steps, last, false);
    std::map<uint32_t, int> out, in;
    std::erase_if(ids, [&](uint32_t e) {
        const DisplayEdge& edge = input.graph.edges[e];
        return !fromTop.contains(edge.from) || !toBottom.contains(edge.to);
    });
    for (const uint32_t e : ids) {
        ++out[input.graph.edges[e].from];
        ++in[input.graph.edges[e].to];
    }
    std::set<uint32_t> trunk;
    for (const uint32_t e : ids)
        if (out[input.graph.edges[e].from] == 1 && in[input.graph.edges[e].to] == 1)
            trunk.insert(e);
    return trunk;
}

/// Graphviz 2.42 numbers its searches for components in a char and leaves marks of 1 on the nodes before the second
/// search of a graph with a fixed rank: when the number has come round to 1 there, all nodes seem visited and their
/// edges are freed in use (decompose and acyclic in lib/dotgen). The newer ranking (`newrank`) searches once, before
/// any mark.
constexpr const char* kNewRanking = "true";

/// A piece as a Graphviz graph; must live and die under the context's mutex.
class DotGraph {
public:
    DotGraph(GVC_t* gvc, const PieceInput& input)
        : m_gvc(gvc)
        , m_input(input)
        , m_graph(agopen(const_cast<char*>("piece"), Agdirected, nullptr))
    {
        set(m_graph, AGRAPH, "nodesep", inches(input.options.boxGap));
        set(m_graph, AGRAPH, "ranksep", inches(input.options.rankGap));
        set(m_graph, AGRAPH, "newrank", kNewRanking);
        set(m_graph, AGNODE, "shape", "box");
        set(m_graph, AGNODE, "fixedsize", "true");
        set(m_graph, AGNODE, "label", "");
        set(m_graph, AGEDGE, "arrowhead", "none");
        set(m_graph, AGEDGE, "weight", "1");
        set(m_graph, AGEDGE, "tailport", "s");
        set(m_graph, AGEDGE, "headport", "n");
        addNodes();
        addEdges();
    }
    ~DotGraph()
    {
        if (m_laidOut)
            gvFreeLayout(m_gvc, m_graph);
        agclose(m_graph);
    }
    DotGraph(const DotGraph&) = delete;
    DotGraph& operator=(const DotGraph&) = delete;

    bool layout()
    {
        m_laidOut = gvLayout(m_gvc, m_graph, "dot") == 0;
        return m_laidOut;
    }

    PieceLayout result() const
    {
        PieceLayout result;
        for (Agnode_t* node : m_nodes)
            result.centres.push_back(flipped(ND_coord(node)));
        for (const uint32_t e : m_input.piece.edges)
            result.edges.push_back(path(e));
        return result;
    }

private:
    static LayoutPoint flipped(pointf p) { return { p.x, -p.y }; }

    void addNodes()
    {
        for (const uint32_t b : m_input.piece.boxes) {
            std::string name = "b" + std::to_string(b);
            Agnode_t* node = agnode(m_graph, name.data(), 1);
            set(node, "width", inches(m_input.sizes[b].width));
            set(node, "height", inches(m_input.sizes[b].height));
            m_index[b] = m_nodes.size();
            m_nodes.push_back(node);
        }
        fixRank(m_input.piece.top, "source");
    }

    void fixRank(uint32_t box, const char* rank)
    {
        if (box == FoldedGraph::kNoBox)
            return;
        Agraph_t* group = agsubg(m_graph, const_cast<char*>(rank), 1);
        set(group, "rank", rank);
        agsubnode(group, m_nodes[m_index.at(box)], 1);
    }

    /// Edges between the same two boxes are drawn as one.
    void addEdges()
    {
        const std::set<uint32_t> trunk = trunkEdges(m_input);
        for (const uint32_t e : m_input.piece.edges) {
            const DisplayEdge& edge = m_input.graph.edges[e];
            Agedge_t*& drawn = m_edges[{ edge.from, edge.to }];
            if (drawn)
                continue;
            drawn = agedge(m_graph, m_nodes[m_index.at(edge.from)], m_nodes[m_index.at(edge.to)], nullptr, 1);
            if (trunk.contains(e))
                set(drawn, "weight", kTrunkWeight);
        }
    }

    EdgePath path(uint32_t e) const
    {
        const DisplayEdge& edge = m_input.graph.edges[e];
        const splines* lines = ED_spl(m_edges.at({ edge.from, edge.to }));
        EdgePath result;
        if (lines && lines->size > 0) {
            const bezier& curve = lines->list[0];
            for (size_t i = 0; i < static_cast<size_t>(curve.size); ++i)
                result.points.push_back(flipped(curve.list[i]));
        }
        return result;
    }

    GVC_t* m_gvc;
    const PieceInput& m_input;
    Agraph_t* m_graph;
    bool m_laidOut = false;
    std::vector<Agnode_t*> m_nodes;
    std::map<uint32_t, size_t> m_index;
    std::map<std::pair<uint32_t, uint32_t>, Agedge_t*> m_edges;
};

} // namespace

PieceLayout layoutWithDot(const PieceInput& input)
{
    GraphvizContext& graphviz = context();
    const std::lock_guard lock(graphviz.mutex);
    DotGraph graph(graphviz.gvc, input);
    return graph.layout() ? graph.result() : layoutOnGrid(input);
}

} // namespace qs
