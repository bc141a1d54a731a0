// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/layout/flat_layout.h"

#include <algorithm>

namespace qs {

namespace {

constexpr double kFrameMargin = 14;
constexpr double kPort = 2; ///< size of the point where edges pass a frame

/// What lies directly in a frame, or outside of all (level 0; frame f is level f + 1).
struct Level {
    enum Port : uint32_t { In = UINT32_MAX - 1, Out = UINT32_MAX };
    struct Item {
        bool frame = false;
        uint32_t index = 0; ///< box or frame
    };
    std::vector<Item> items;
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> ways; ///< between items or ports → edge of the level
    GraphLayout layout;
    LayoutPoint origin; ///< in the whole drawing
};

/// The part of an edge that lies in one level.
struct Way {
    uint32_t level = 0, edge = 0;
};

class NestedLayout {
public:
    NestedLayout(const FoldedGraph& graph, const std::vector<LayoutSize>& sizes, const LayoutOptions& options)
        : m_graph(graph)
        , m_sizes(sizes)
        , m_options(options)
        , m_levels(graph.frames.size() + 1)
        , m_itemOfBox(graph.boxes.size())
        , m_itemOfFrame(graph.frames.size(), FoldedGraph::kNoBox)
        , m_frameSizes(graph.frames.size())
    {
        for (uint32_t b = 0; b < graph.boxes.size(); ++b) {
            const uint32_t frame = graph.frameOfBox[b];
            placeFrame(frame);
            m_itemOfBox[b] = append(levelOf(frame), { false, b });
        }
        m_ways.resize(graph.edges.size());
        for (uint32_t e = 0; e < graph.edges.size(); ++e)
            findWays(e);
    }

    Result<GraphLayout> run(const CancelToken& cancel)
    {
        for (size_t level = m_levels.size(); level-- > 0;) { // inner ones first
            QS_TRY(m_levels[level].layout, layoutLevel(m_levels[level], level == 0, cancel));
            const LayoutSize& size = m_levels[level].layout.size;
            if (level > 0)
                m_frameSizes[level - 1]
                    = { std::max(size.width, m_options.frameTitle.width), size.height + m_options.frameTitle.height };
        }
        return assembled();
    }

private:
    static uint32_t levelOf(uint32_t frame) { return frame == FoldedGraph::kNoBox ? 0 : frame + 1; }
    uint32_t levelAround(uint32_t level) const { return levelOf(m_graph.frames[level - 1].parent); }

    uint32_t append(uint32_t level, Level::Item item)
    {
        m_levels[level].items.push_back(item);
        return static_cast<uint32_t>(m_levels[level].items.size() - 1);
    }

    /// A frame lies where its first box would.
    void placeFrame(uint32_t frame)
    {
        if (frame == FoldedGraph::kNoBox || m_itemOfFrame[frame] != FoldedGraph::kNoBox)
            return;
        const uint32_t parent = m_graph.frames[frame].parent;
        placeFrame(parent);
        m_itemOfFrame[frame] = append(levelOf(parent), { true, frame });
    }

    uint32_t depth(uint32_t level) const
    {
        uint32_t found = 0;
        for (; level > 0; level = levelAround(level))
            ++found;
        return found;
    }

    Way way(uint32_t level, uint32_t from, uint32_t to)
    {
        auto& ways = m_levels[level].ways;
        return { level, ways.try_emplace({ from, to }, static_cast<uint32_t>(ways.size())).first->second };
    }

    void findWays(uint32_t e)
    {
        const DisplayEdge& edge = m_graph.edges[e];
        uint32_t up = levelOf(m_graph.frameOfBox[edge.from]), down = levelOf(m_graph.frameOfBox[edge.to]);
        uint32_t from = m_itemOfBox[edge.from], to = m_itemOfBox[edge.to];
        uint32_t upDepth = depth(up), downDepth = depth(down);
        std::vector<Way> out, in;
        while (up != down) {
            if (upDepth >= downDepth) {
                out.push_back(way(up, from, Level::Out));
                from = m_itemOfFrame[up - 1];
                up = levelAround(up);
                --upDepth;
            } else {
                in.push_back(way(down, Level::In, to));
                to = m_itemOfFrame[down - 1];
                down = levelAround(down);
                --downDepth;
            }
        }
        out.push_back(way(up, from, to));
        out.insert(out.end(), in.rbegin(), in.rend());
        m_ways[e] = std::move(out);
    }

    Result<GraphLayout> layoutLevel(const Level& level, bool outermost, const CancelToken& cancel)
    {
        FoldedGraph graph;
        std::vector<LayoutSize> sizes;
        for (const Level::Item& item : level.items)
            sizes.push_back(item.frame ? m_frameSizes[item.index] : m_sizes[item.index]);
        auto end = [&, ports = std::map<uint32_t, uint32_t>()](uint32_t item) mutable {
            if (item < Level::In)
                return item;
            const auto [port, isNew] = ports.try_emplace(item, static_cast<uint32_t>(sizes.size()));
            if (isNew)
                sizes.push_back({ kPort, kPort });
            return port->second;
        };
        graph.edges.resize(level.ways.size());
        for (const auto& [ends, edge] : level.ways) {
            graph.edges[edge].from = end(ends.first);
            graph.edges[edge].to = end(ends.second);
        }
        graph.boxes.resize(sizes.size());
        LayoutOptions options = m_options;
        if (!outermost)
            options.margin = kFrameMargin;
        return layoutFlat(graph, sizes, options, m_known, cancel);
    }

    GraphLayout assembled()
    {
        GraphLayout result;
        result.size = m_levels[0].layout.size;
        result.boxes.resize(m_graph.boxes.size());
        result.frames.resize(m_graph.frames.size());
        for (Level& level : m_levels) { // outer ones first
            for (size_t i = 0; i < level.items.size(); ++i) {
                LayoutRect rect = level.layout.boxes[i];
                rect.x += level.origin.x;
                rect.y += level.origin.y;
                if (!level.items[i].frame) {
                    result.boxes[level.items[i].index] = rect;
                    continue;
                }
                const uint32_t frame = level.items[i].index;
                result.frames[frame] = rect;
                Level& inner = m_levels[frame + 1];
                inner.origin
                    = { rect.x + (rect.width - inner.layout.size.width) / 2, rect.y + m_options.frameTitle.height };
            }
        }
        for (const std::vector<Way>& ways : m_ways)
            result.edges.push_back(path(ways));
        return result;
    }

    /// The ways after each other, joined by curves.
    EdgePath path(const std::vector<Way>& ways) const
    {
        EdgePath result;
        for (const Way& way : ways) {
            const Level& level = m_levels[way.level];
            std::vector<LayoutPoint> points = level.layout.edges[way.edge].points;
            for (LayoutPoint& p : points)
                p = { p.x + level.origin.x, p.y + level.origin.y };
            if (points.empty())
                continue;
            if (!result.points.empty()) {
                const EdgePath bridge = verticalCurve(result.points.back(), points.front());
                result.points.insert(result.points.end(), bridge.points.begin() + 1, bridge.points.end());
                points.erase(points.begin());
            }
            result.points.insert(result.points.end(), points.begin(), points.end());
        }
        return result;
    }

    const FoldedGraph& m_graph;
    const std::vector<LayoutSize>& m_sizes;
    const LayoutOptions& m_options;
    std::vector<Level> m_levels;
    std::vector<uint32_t> m_itemOfBox, m_itemOfFrame; ///< within their level
    std::vector<LayoutSize> m_frameSizes;
    std::vector<std::vector<Way>> m_ways; ///< by edge
    KnownPieces m_known;
};

} // namespace

Result<GraphLayout> layoutNested(const FoldedGraph& graph, const std::vector<LayoutSize>& sizes,
    const LayoutOptions& options, const CancelToken& cancel)
{
    return NestedLayout(graph, sizes, options).run(cancel);
}

} // namespace qs
