// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/layout/flat_layout.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

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

/// All that the engines read of a piece.
std::vector<double> keyOf(const PieceInput& input)
{
    std::vector<double> key { input.options.rankGap, input.options.boxGap, double(input.options.largestPiece) };
    std::unordered_map<uint32_t, size_t> local;
    for (const uint32_t b : input.piece.boxes) {
        local.emplace(b, local.size());
        for (const double number :
            { input.sizes[b].width, input.sizes[b].height, double(input.layers[b] - input.piece.firstLayer) })
            key.push_back(number);
        key.push_back(b == input.piece.top ? 1 : 0);
    }
    key.push_back(double(input.piece.lastLayer - input.piece.firstLayer));
    for (const uint32_t e : input.piece.edges) {
        key.push_back(double(local.at(input.graph.edges[e].from)));
        key.push_back(double(local.at(input.graph.edges[e].to)));
    }
    return key;
}

/// Puts the pieces below each other, shared boxes on the same place.
class Assembly {
public:
    Assembly(const FoldedGraph& graph, const std::vector<LayoutSize>& sizes, const LayoutOptions& options,
        KnownPieces& known)
        : m_graph(graph)
        , m_options(options)
        , m_layers(layersOf(graph))
        , m_sizes(sizes)
        , m_known(known)
    {
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
        return std::move(m_layout);
    }

private:
    void add(const Piece& piece)
    {
        PieceLayout placed = m_known.layout({ m_graph, piece, m_sizes, m_layers, m_options });
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
    const std::vector<LayoutSize>& m_sizes;
    KnownPieces& m_known;
    GraphLayout m_layout;
};

} // namespace

PieceLayout KnownPieces::layout(const PieceInput& input)
{
    std::vector<double> key = keyOf(input);
    const auto known = m_known.find(key);
    if (known != m_known.end())
        return known->second;
    const size_t boxes = input.piece.boxes.size();
    const bool grid = boxes <= 2 || boxes > input.options.largestPiece;
    return m_known.emplace(std::move(key), grid ? layoutOnGrid(input) : layoutWithDot(input)).first->second;
}

Result<GraphLayout> layoutFlat(const FoldedGraph& graph, const std::vector<LayoutSize>& sizes,
    const LayoutOptions& options, KnownPieces& known, const CancelToken& cancel)
{
    return Assembly(graph, sizes, options, known).run(cancel);
}

} // namespace qs
