// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/graph/graph_scene.h"

#include "widgets/models/base/formatting.h"

#include <QFontMetricsF>

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr double kNumberWidth = 74; ///< room at the right of a box
constexpr double kLeast = 172, kMost = 460; ///< width of a box
constexpr double kBoxHeight = 42, kTerminalHeight = 28, kBadgeHeight = 18;
constexpr double kGroupHeight = 54, kFrameTitle = 26;

LayoutSize measured(const DisplayBox& box, const QFontMetricsF& title, const QFontMetricsF& subtitle)
{
    const double first = title.horizontalAdvance(toQt(box.title));
    const double second = subtitle.horizontalAdvance(toQt(box.subtitle));
    if (box.kind == DisplayBox::Kind::Group)
        return { std::clamp(46 + std::max(first, second) + kNumberWidth, kLeast, kMost), kGroupHeight };
    if (box.kind == DisplayBox::Kind::Operator)
        return { std::clamp(22 + std::max(first, second) + kNumberWidth, kLeast, kMost), kBoxHeight };
    return { std::clamp(40 + first + second + kNumberWidth, kLeast, kMost), kTerminalHeight };
}

QPointF toPoint(const LayoutPoint& p) { return { p.x, p.y }; }

/// Around all points of a path, controls as well.
QRectF boundsOf(const std::vector<LayoutPoint>& points)
{
    if (points.empty())
        return {};
    QPointF low = toPoint(points.front()), high = low;
    for (const LayoutPoint& p : points) {
        low = { std::min(low.x(), p.x), std::min(low.y(), p.y) };
        high = { std::max(high.x(), p.x), std::max(high.y(), p.y) };
    }
    return { low, high };
}

} // namespace

GraphFonts GraphFonts::of(const QFont& base)
{
    GraphFonts fonts { base, base, base, base };
    fonts.title.setPixelSize(13);
    fonts.title.setBold(true);
    fonts.subtitle.setPixelSize(12);
    fonts.number.setPixelSize(13);
    fonts.number.setBold(true);
    fonts.badge.setPixelSize(11);
    return fonts;
}

Result<GraphScene> GraphScene::make(const std::shared_ptr<const GraphContent>& content, const GraphView& view,
    const GraphFonts& fonts, const CancelToken& cancel)
{
    GraphScene scene;
    scene.m_content = content;
    scene.m_view = view;
    scene.m_graph = view.drawnOf(*content);
    if (cancel.cancelled())
        return cancelled();
    const QFontMetricsF title(fonts.title), subtitle(fonts.subtitle);
    LayoutOptions options;
    options.boxSize = [&](const DisplayBox& box) { return measured(box, title, subtitle); };
    options.frameTitle = { kLeast, kFrameTitle };
    QS_TRY(scene.m_layout, layoutGraph(scene.m_graph, options, cancel));
    scene.placeBadges(fonts);
    scene.indexMembers();
    scene.build();
    return scene;
}

void GraphScene::placeBadges(const GraphFonts& fonts)
{
    const QFontMetricsF metrics(fonts.badge);
    for (size_t e = 0; e < m_graph.edges.size(); ++e) {
        QRectF rect;
        if (const auto& centre = m_layout.edges[e].badge) {
            const double width = metrics.horizontalAdvance(toQt(m_graph.edges[e].badge)) + 18;
            rect = QRectF(centre->x - width / 2, centre->y - kBadgeHeight / 2, width, kBadgeHeight);
        }
        m_badges.push_back(rect);
    }
}

void GraphScene::indexMembers()
{
    m_drawn.assign(m_content->whole.boxes.size(), FoldedGraph::kNoBox);
    for (uint32_t b = 0; b < m_graph.boxes.size(); ++b)
        for (const uint32_t member : m_graph.boxes[b].members)
            m_drawn[member] = b;
}

std::optional<uint32_t> GraphScene::drawn(uint32_t box) const
{
    return box < m_drawn.size() && m_drawn[box] != FoldedGraph::kNoBox ? std::optional(m_drawn[box]) : std::nullopt;
}

QRectF GraphScene::frameTitle(uint32_t frame) const
{
    return { m_frames[frame].topLeft(), QSizeF(m_frames[frame].width(), kFrameTitle) };
}

std::optional<uint32_t> GraphScene::frameTitleAt(QPointF point) const
{
    for (auto f = static_cast<uint32_t>(m_frames.size()); f-- > 0;) // inner ones first
        if (frameTitle(f).contains(point))
            return f;
    return std::nullopt;
}

void GraphScene::build()
{
    for (const LayoutRect& r : m_layout.boxes)
        m_boxes.emplace_back(r.x, r.y, r.width, r.height);
    for (const LayoutRect& r : m_layout.frames)
        m_frames.emplace_back(r.x, r.y, r.width, r.height);
    m_boxIndex = BandIndex(m_boxes);
    placeEdges();
    findNeighbours();
}

void GraphScene::placeEdges()
{
    for (uint32_t e = 0; e < m_layout.edges.size(); ++e) {
        const std::vector<LayoutPoint>& points = m_layout.edges[e].points;
        m_lines.push_back(points.empty() ? QLineF() : QLineF(toPoint(points.front()), toPoint(points.back())));
        m_edgeBounds.push_back(boundsOf(points).adjusted(-2, -2, 2, 2) | m_badges[e]);
    }
    m_edgeIndex = BandIndex(m_edgeBounds);
}

void GraphScene::findNeighbours()
{
    m_next.resize(m_boxes.size());
    m_previous.resize(m_boxes.size());
    for (const DisplayEdge& edge : m_graph.edges) {
        m_next[edge.from].push_back(edge.to);
        m_previous[edge.to].push_back(edge.from);
    }
    for (auto* neighbours : { &m_next, &m_previous }) {
        for (std::vector<uint32_t>& list : *neighbours) {
            std::ranges::sort(list, {}, [this](uint32_t b) { return std::pair(m_boxes[b].x(), b); });
            list.erase(std::unique(list.begin(), list.end()), list.end());
        }
    }
}

QPainterPath GraphScene::edge(uint32_t i) const
{
    const std::vector<LayoutPoint>& points = m_layout.edges[i].points;
    QPainterPath path;
    if (points.empty())
        return path;
    path.moveTo(toPoint(points[0]));
    for (size_t p = 1; p + 2 < points.size(); p += 3)
        path.cubicTo(toPoint(points[p]), toPoint(points[p + 1]), toPoint(points[p + 2]));
    return path;
}

std::vector<uint32_t> GraphScene::boxesIn(const QRectF& area) const { return m_boxIndex.in(m_boxes, area); }

std::vector<uint32_t> GraphScene::edgesIn(const QRectF& area) const { return m_edgeIndex.in(m_edgeBounds, area); }

std::optional<uint32_t> GraphScene::boxAt(QPointF point) const
{
    for (const uint32_t b : boxesIn(QRectF(point, QSizeF(0.01, 0.01))))
        if (m_boxes[b].contains(point))
            return b;
    return std::nullopt;
}

std::optional<uint32_t> GraphScene::edgeAt(QPointF point, double reach) const
{
    const QRectF around(point.x() - reach, point.y() - reach, 2 * reach, 2 * reach);
    for (const uint32_t e : edgesIn(around)) {
        if (m_badges[e].contains(point))
            return e;
        QPainterPathStroker stroker;
        stroker.setWidth(2 * reach);
        if (stroker.createStroke(edge(e)).contains(point))
            return e;
    }
    return std::nullopt;
}

std::optional<uint32_t> GraphScene::beside(uint32_t box, int step) const
{
    const QRectF& from = m_boxes[box];
    const QRectF row(-1, from.top(), m_layout.size.width + 2, from.height());
    std::optional<uint32_t> best;
    for (const uint32_t b : boxesIn(row)) {
        const double distance = (m_boxes[b].center().x() - from.center().x()) * step;
        if (b == box || distance <= 0)
            continue;
        if (!best || distance < (m_boxes[*best].center().x() - from.center().x()) * step)
            best = b;
    }
    return best;
}

} // namespace qs
