// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/base/work/cancel.h"
#include "core/layout/folded_graph.h"
#include "core/layout/graph_layout.h"
#include "widgets/views/graph/geometry/band_index.h"
#include "widgets/views/graph/view/graph_view.h"

#include <QFont>
#include <QLineF>
#include <QPainterPath>
#include <QPointF>
#include <QRectF>

#include <memory>
#include <optional>
#include <vector>

namespace qs {

/// Fonts that boxes are measured and painted with, at 100 %.
struct GraphFonts {
    QFont title, subtitle, number, badge;
    static GraphFonts of(const QFont& base);
};

/// Geometry of one drawing: boxes, curves, badges and where to find them. Immutable; made on a worker thread.
class GraphScene {
public:
    static Result<GraphScene> make(const std::shared_ptr<const GraphContent>& content, const GraphView& view,
        const GraphFonts& fonts, const CancelToken& cancel);

    const FoldedGraph& graph() const { return m_graph; } ///< as drawn
    const std::shared_ptr<const GraphContent>& content() const { return m_content; }
    const GraphView& view() const { return m_view; }
    FoldMode mode() const { return m_view.mode; }
    /// The box that draws a box of the content, alone or in a closed group; nothing where it is left out.
    std::optional<uint32_t> drawn(uint32_t boxOfContent) const;
    const QRectF& frame(uint32_t i) const { return m_frames[i]; }
    size_t frameCount() const { return m_frames.size(); }
    QRectF frameTitle(uint32_t frame) const; ///< the bar at its top
    std::optional<uint32_t> frameTitleAt(QPointF point) const;
    QRectF bounds() const { return { 0, 0, m_layout.size.width, m_layout.size.height }; }
    size_t boxCount() const { return m_boxes.size(); }
    const QRectF& box(uint32_t i) const { return m_boxes[i]; }
    QPainterPath edge(uint32_t i) const; ///< its curve
    const QLineF& line(uint32_t edge) const { return m_lines[edge]; } ///< from its start to its end
    /// Empty rectangle where the edge has no badge of its own.
    const QRectF& badge(uint32_t edge) const { return m_badges[edge]; }

    std::vector<uint32_t> boxesIn(const QRectF& area) const; ///< ascending
    std::vector<uint32_t> edgesIn(const QRectF& area) const; ///< ascending; by bounding rectangle
    /// The same without a list, in the order in which they are found.
    template <class Found> void visitBoxes(const QRectF& area, const Found& found) const
    {
        m_boxIndex.visit(m_boxes, area, 0, found);
    }
    /// Edges that are shorter than `least` may be left out.
    template <class Found> void visitEdges(const QRectF& area, double least, const Found& found) const
    {
        m_edgeIndex.visit(m_edgeBounds, area, least, found);
    }
    std::optional<uint32_t> boxAt(QPointF point) const;
    /// Edge whose badge holds the point, or whose curve passes within `reach` of it.
    std::optional<uint32_t> edgeAt(QPointF point, double reach) const;

    /// Neighbours for the keyboard, leftmost first.
    const std::vector<uint32_t>& successors(uint32_t box) const { return m_next[box]; }
    const std::vector<uint32_t>& predecessors(uint32_t box) const { return m_previous[box]; }
    /// The next box to the right (step 1) or left (-1) at about the same height.
    std::optional<uint32_t> beside(uint32_t box, int step) const;

private:
    void build();
    void indexMembers();
    void placeBadges(const GraphFonts& fonts);
    void placeEdges();
    void findNeighbours();

    std::shared_ptr<const GraphContent> m_content;
    GraphView m_view;
    FoldedGraph m_graph;
    std::vector<uint32_t> m_drawn; ///< by box of the content
    GraphLayout m_layout;
    std::vector<QRectF> m_boxes, m_badges, m_frames;
    std::vector<QLineF> m_lines;
    std::vector<QRectF> m_edgeBounds; ///< with the badge
    std::vector<std::vector<uint32_t>> m_next, m_previous;
    BandIndex m_boxIndex, m_edgeIndex;
};

} // namespace qs
