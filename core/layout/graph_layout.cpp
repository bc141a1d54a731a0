// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/layout/graph_layout.h"

#include "core/base/text/utf8.h"
#include "core/base/work/long_work.h"
#include "core/layout/badges.h"
#include "core/layout/piece_layout.h"

#include <algorithm>
#include <limits>

namespace qs {

namespace {

void move(PieceLayout& piece, double dx, double dy)
{
    for (LayoutPoint& p : piece.centres)
        p = { p.x + dx, p.y + dy };
    for (EdgePath& path : piece.edges)
        for (LayoutPoint& p : path.points)
            p = { p.x + dx, p.y + dy };
}

/// Puts the pieces below each other, shared boxes on the same place.
class Assembly {
public:
    Assembly(const FoldedGraph& graph, const LayoutOptions& options)
        : m_graph(graph)
        , m_options(options)
        , m_layers(layersOf(graph))
    {
        for (const DisplayBox& box : graph.boxes)
            m_sizes.push_back(options.boxSize ? options.boxSize(box) : estimatedBoxSize(box));
        m_layout.boxes.resize(graph.boxes.size());
        m_layout.edges.resize(graph.edges.size());
    }

    Result<GraphLayout> run(const CancelToken& cancel)
    {
        for (const Piece& piece : cutIntoPieces(m_graph, m_layers)) {
            if (cancel.cancelled())
                return cancelled();
            add(piece);
        }
        moveToOrigin();
        placeBadges(m_graph, m_options.rankGap, m_layout);
        return std::move(m_layout);
    }

private:
    void add(const Piece& piece)
    {
        const PieceInput input { m_graph, piece, m_sizes, m_layers, m_options };
        const bool grid = piece.boxes.size() <= 2 || piece.boxes.size() > m_options.largestPiece;
        PieceLayout placed = grid ? layoutOnGrid(input) : layoutWithDot(input);
        align(piece, placed);
        for (size_t i = 0; i < piece.boxes.size(); ++i) {
            const uint32_t b = piece.boxes[i];
            const LayoutPoint c = placed.centres[i];
            m_layout.boxes[b]
                = { c.x - m_sizes[b].width / 2, c.y - m_sizes[b].height / 2, m_sizes[b].width, m_sizes[b].height };
        }
        for (size_t i = 0; i < piece.edges.size(); ++i)
            m_layout.edges[piece.edges[i]] = std::move(placed.edges[i]);
    }

    /// Moves the piece so that its top box lies where the piece before has it.
    void align(const Piece& piece, PieceLayout& placed) const
    {
        if (piece.top == FoldedGraph::kNoBox)
            return;
        const auto at = std::find(piece.boxes.begin(), piece.boxes.end(), piece.top) - piece.boxes.begin();
        const LayoutRect& there = m_layout.boxes[piece.top];
        const LayoutPoint here = placed.centres[static_cast<size_t>(at)];
        move(placed, there.centreX() - here.x, there.centreY() - here.y);
    }

    void moveToOrigin()
    {
        double left = std::numeric_limits<double>::max(), top = left, right = -left, bottom = -left;
        const auto extend = [&](double x0, double y0, double x1, double y1) {
            left = std::min(left, x0);
            top = std::min(top, y0);
            right = std::max(right, x1);
            bottom = std::max(bottom, y1);
        };
        for (const LayoutRect& r : m_layout.boxes)
            extend(r.x, r.y, r.right(), r.bottom());
        for (const EdgePath& path : m_layout.edges)
            for (const LayoutPoint& p : path.points)
                extend(p.x, p.y, p.x, p.y);
        if (left > right)
            return;
        const double dx = m_options.margin - left, dy = m_options.margin - top;
        for (LayoutRect& r : m_layout.boxes)
            r = { r.x + dx, r.y + dy, r.width, r.height };
        for (EdgePath& path : m_layout.edges)
            for (LayoutPoint& p : path.points)
                p = { p.x + dx, p.y + dy };
        m_layout.size = { right - left + 2 * m_options.margin, bottom - top + 2 * m_options.margin };
    }

    const FoldedGraph& m_graph;
    const LayoutOptions& m_options;
    std::vector<uint32_t> m_layers;
    std::vector<LayoutSize> m_sizes;
    GraphLayout m_layout;
};

} // namespace

LayoutSize estimatedBoxSize(const DisplayBox& box)
{
    const double text = std::max(7.4 * double(characterCount(box.title)), 6.4 * double(characterCount(box.subtitle)));
    if (box.kind != DisplayBox::Kind::Operator)
        return { std::clamp(
                     14 * 2 + 7.4 * double(characterCount(box.title) + characterCount(box.subtitle) + 2), 100.0, 420.0),
            26 };
    return { std::clamp(20 + text + 66, 178.0, 340.0), 40 };
}

Result<GraphLayout> layoutGraph(const FoldedGraph& graph, const LayoutOptions& options, const CancelToken& cancel)
{
    beginLongWork("layout");
    return Assembly(graph, options).run(cancel);
}

} // namespace qs
