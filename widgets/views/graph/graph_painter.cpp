// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/graph/graph_painter.h"

#include "widgets/models/base/formatting.h"
#include "widgets/views/graph/geometry/spots.h"
#include "widgets/views/graph/group_painter.h"

#include <QPainter>

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr double kCorner = 4;
constexpr double kPlainEdges = 0.25; ///< below this zoom edges are straight lines
constexpr double kStaleShare = 0.3; ///< of its colour that a box keeps while its number is stale
constexpr double kStaleNumberOpacity = 0.5; ///< of that number
constexpr double kCheckSize = 13;
constexpr double kCoarse = 0.1; ///< below this zoom boxes that fall on one spot are drawn once
constexpr double kShortEdge = 3; ///< pixels; shorter ones are left out there
constexpr double kMarksAround = 8; ///< of the scene, by which outlines, check boxes and stacks reach beyond a box
constexpr double kLowFrame = 4; ///< pixels of height; lower ones are left out there

QColor edgeColour(const Theme& theme)
{
    QColor colour = theme.muted;
    colour.setAlphaF(0.75);
    return colour;
}

/// A colour of numbers as the age of the numbers lets it be.
QColor aged(const GraphLook& look, const QColor& colour)
{
    if (!look.stale || !colour.isValid())
        return colour;
    const QColor ground = look.theme.raised;
    const auto mixed = [](int number, int below) { return int(number * kStaleShare + below * (1 - kStaleShare)); };
    return { mixed(colour.red(), ground.red()), mixed(colour.green(), ground.green()),
        mixed(colour.blue(), ground.blue()) };
}

QColor fillOf(const GraphLook& look, const BoxLook& box, const QColor& plain)
{
    return box.fill.isValid() ? aged(look, box.fill) : plain;
}

/// As much as can be told apart from afar: whatever lies on the same spot as something else is left out.
class CoarsePainter {
public:
    CoarsePainter(QPainter& painter, const GraphScene& scene, const GraphLook& look, double zoom)
        : m_painter(painter)
        , m_scene(scene)
        , m_look(look)
        , m_zoom(zoom)
    {
    }

    void paint(const QRectF& visible)
    {
        const double pixel = 1 / m_zoom;
        paintFrames(
            m_painter, m_scene, { m_look.theme, m_look.fonts.subtitle, false, pixel, kLowFrame * pixel }, visible);
        paintEdges(visible);
        m_painter.setPen(Qt::NoPen);
        Spots spots(visible, m_zoom);
        std::vector<uint32_t> last; // to be seen whatever else lies there
        m_scene.visitBoxes(visible, [&](uint32_t b) {
            if (marked(b))
                last.push_back(b);
            else if (spots.take(spots.at(m_scene.box(b).center())))
                paintSpot(b);
        });
        for (const uint32_t b : last)
            paintSpot(b);
    }

private:
    /// Of edges that follow each other in the file and run between the same pixels, one.
    void paintEdges(const QRectF& visible)
    {
        const double least = kShortEdge / m_zoom;
        const auto pixels
            = [&](const QLineF& line) { return QLine((line.p1() * m_zoom).toPoint(), (line.p2() * m_zoom).toPoint()); };
        QVector<QLineF> lines;
        QLine last;
        m_scene.visitEdges(visible, least / 2, [&](uint32_t e) { // half: the sum of both sides counts
            const QLineF& line = m_scene.line(e);
            if (std::abs(line.dx()) + std::abs(line.dy()) < least)
                return;
            const QLine now = pixels(line);
            if (now != last)
                lines.append(line);
            last = now;
        });
        m_painter.setPen(QPen(edgeColour(m_look.theme), 0));
        m_painter.drawLines(lines);
    }

    bool marked(uint32_t b) const { return m_look.boxes[b].chosen || (m_look.boxes[b].found && m_look.searching); }

    void paintSpot(uint32_t b)
    {
        const BoxLook& look = m_look.boxes[b];
        const QRectF& rect = m_scene.box(b);
        const double least = 1 / m_zoom;
        m_painter.setOpacity(m_look.searching && !look.found ? 0.3 : 1);
        m_painter.setBrush(marked(b) ? m_look.theme.accent : fillOf(m_look, look, m_look.theme.muted));
        m_painter.drawRect(
            QRectF(rect.topLeft(), QSizeF(std::max(rect.width(), least), std::max(rect.height(), least))));
        m_painter.setOpacity(1);
    }

    QPainter& m_painter;
    const GraphScene& m_scene;
    const GraphLook& m_look;
    double m_zoom;
};

class GraphPainter {
public:
    GraphPainter(QPainter& painter, const GraphScene& scene, const GraphLook& look, double zoom)
        : m_painter(painter)
        , m_scene(scene)
        , m_look(look)
        , m_zoom(zoom)
    {
    }

    void paint(const QRectF& visible)
    {
        if (m_zoom < kCoarse) {
            CoarsePainter(m_painter, m_scene, m_look, m_zoom).paint(visible);
            if (m_look.selected)
                outline(*m_look.selected, m_look.theme.accent, 5, 2.5);
            return;
        }
        const double margin = kMarksAround + 2 * onePixel();
        const QRectF reaching = visible.adjusted(-margin, -margin, margin, margin);
        const std::vector<uint32_t> edges = m_scene.edgesIn(reaching);
        m_painter.setRenderHint(QPainter::Antialiasing, m_zoom >= kPlainEdges);
        paintFrames(m_painter, m_scene,
            { m_look.theme, m_look.fonts.subtitle, readable(m_look.fonts.subtitle), onePixel() }, reaching);
        paintEdges(edges);
        const std::vector<uint32_t> boxes = m_scene.boxesIn(reaching);
        for (const uint32_t b : boxes)
            paintBox(b);
        if (readable(m_look.fonts.badge))
            for (const uint32_t e : edges)
                paintBadge(e);
        if (m_look.selected)
            outline(*m_look.selected, m_look.theme.accent, 5, 2.5);
        for (const uint32_t b : boxes)
            paintCheck(b);
    }

private:
    bool readable(const QFont& font) const { return font.pixelSize() * m_zoom >= kSmallestText; }
    double onePixel() const { return 1 / m_zoom; }
    DisplayBox::Kind kind(uint32_t b) const { return m_scene.graph().boxes[b].kind; }
    bool isGroup(uint32_t b) const { return kind(b) == DisplayBox::Kind::Group; }
    bool terminal(uint32_t b) const
    {
        return kind(b) == DisplayBox::Kind::Input || kind(b) == DisplayBox::Kind::Output;
    }

    bool touchesSelection(uint32_t e) const
    {
        const DisplayEdge& edge = m_scene.graph().edges[e];
        return m_look.selectedEdge == e
            || (m_look.selected && (edge.from == *m_look.selected || edge.to == *m_look.selected));
    }

    void paintEdges(const std::vector<uint32_t>& edges)
    {
        m_painter.setBrush(Qt::NoBrush);
        m_painter.setPen(QPen(edgeColour(m_look.theme), std::max(1.4, onePixel())));
        if (m_zoom < kPlainEdges) {
            QVector<QLineF> lines;
            for (const uint32_t e : edges)
                lines.append(m_scene.line(e));
            m_painter.setPen(QPen(edgeColour(m_look.theme), 0));
            m_painter.drawLines(lines);
            return;
        }
        for (const uint32_t e : edges)
            m_painter.drawPath(m_scene.edge(e));
        m_painter.setPen(QPen(m_look.theme.accent, std::max(1.8, onePixel())));
        for (const uint32_t e : edges)
            if (touchesSelection(e))
                m_painter.drawPath(m_scene.edge(e));
    }

    void paintBox(uint32_t b)
    {
        const QRectF& rect = m_scene.box(b);
        const BoxLook& look = m_look.boxes[b];
        const bool dimmed = m_look.searching && !look.found;
        const double corner = terminal(b) ? rect.height() / 2 : kCorner;
        const QColor fill = fillOf(m_look, look, m_look.theme.raised);
        m_painter.setOpacity(dimmed ? 0.3 : 1);
        if (isGroup(b) && m_zoom >= kPlainEdges)
            paintStack(m_painter, rect, m_look.theme);
        m_painter.setBrush(fill);
        if (m_zoom < kPlainEdges) {
            m_painter.setPen(Qt::NoPen);
            m_painter.drawRect(rect);
        } else {
            const bool hovered = m_look.hovered == b;
            m_painter.setPen(QPen(hovered ? m_look.theme.accent : borderOf(look), hovered ? 1.8 : 1));
            m_painter.drawRoundedRect(rect, corner, corner);
            if (look.hatched)
                hatch(rect, corner);
            if (look.quantized && look.quantized != TriState::All)
                outlineFloat(rect, corner);
        }
        if (readable(m_look.fonts.subtitle))
            paintTexts(b, fill);
        m_painter.setOpacity(1);
        if (look.found && m_look.searching)
            outline(b, m_look.theme.warning, 3, 2);
        if (look.chosen)
            outline(b, m_look.theme.accent, 3, 2);
    }

    /// Nodes that the recipe leaves in float.
    void outlineFloat(const QRectF& rect, double corner)
    {
        m_painter.setBrush(Qt::NoBrush);
        m_painter.setPen(QPen(m_look.theme.warning, std::max(2.0, onePixel()), Qt::DashLine));
        m_painter.drawRoundedRect(rect, corner, corner);
    }

    void paintCheck(uint32_t b)
    {
        const BoxLook& look = m_look.boxes[b];
        const bool wanted = m_look.hovered == b || m_look.selected == b || look.quantized != TriState::All;
        if (!look.quantized || !wanted || !readable(m_look.fonts.subtitle))
            return;
        const QRectF rect = checkRect(m_scene.box(b));
        m_painter.setBrush(m_look.theme.panel);
        m_painter.setPen(QPen(look.quantized == TriState::All ? m_look.theme.accent : m_look.theme.warning, 1.5));
        m_painter.drawRoundedRect(rect, 2.5, 2.5);
        if (look.quantized == TriState::Some)
            m_painter.drawLine(rect.center() - QPointF(3.5, 0), rect.center() + QPointF(3.5, 0));
        if (look.quantized == TriState::All)
            m_painter.drawPolyline(QPolygonF({ rect.topLeft() + QPointF(3, 6.5), rect.topLeft() + QPointF(5.5, 9.5),
                rect.topLeft() + QPointF(10, 3.5) }));
    }

    QColor borderOf(const BoxLook& look) const
    {
        if (!look.fill.isValid())
            return plainBorder();
        QColor border = m_look.theme.text;
        border.setAlphaF(m_look.theme.dark ? 0.35 : 0.45);
        return border;
    }

    /// Of a box without a colour, which on the ground of an open group is seen by it alone.
    QColor plainBorder() const
    {
        QColor border = m_look.theme.muted;
        border.setAlphaF(0.5);
        return border;
    }

    void hatch(const QRectF& rect, double corner)
    {
        QColor colour = m_look.theme.muted;
        colour.setAlphaF(0.4);
        m_painter.setBrush(QBrush(colour, Qt::BDiagPattern));
        m_painter.setPen(QPen(m_look.theme.muted, 1, Qt::DashLine));
        m_painter.drawRoundedRect(rect, corner, corner);
    }

    void outline(uint32_t b, const QColor& colour, double distance, double width)
    {
        const double pen = std::max(width, 1.5 * onePixel());
        const QRectF rect = m_scene.box(b).adjusted(-distance, -distance, distance, distance);
        const double corner = terminal(b) ? rect.height() / 2 : kCorner + distance;
        m_painter.setBrush(Qt::NoBrush);
        m_painter.setPen(QPen(colour, pen));
        m_painter.drawRoundedRect(rect, corner, corner);
    }

    void paintTexts(uint32_t b, const QColor& fill)
    {
        const DisplayBox& box = m_scene.graph().boxes[b];
        const bool operation = !terminal(b);
        const QColor ink = m_look.boxes[b].fill.isValid() ? Theme::textOn(fill) : m_look.theme.text;
        if (isGroup(b)) {
            std::vector<QColor> strip = m_look.boxes[b].strip;
            for (QColor& part : strip)
                part = aged(m_look, part);
            paintGroupMarks(m_painter, m_scene.box(b), strip, m_look.theme, ink);
        }
        const QRectF inner = isGroup(b) ? m_scene.box(b).adjusted(28, 4, -9, -14)
                                        : m_scene.box(b).adjusted(operation ? 10 : 14, 5, operation ? -9 : -14, -5);
        m_painter.setPen(ink);
        double used = 0;
        if (const QString& number = m_look.boxes[b].number; !number.isEmpty()) {
            m_painter.setFont(m_look.fonts.number);
            const double opacity = m_painter.opacity();
            m_painter.setOpacity(opacity * (m_look.stale ? kStaleNumberOpacity : 1));
            m_painter.drawText(inner, Qt::AlignRight | Qt::AlignVCenter, number);
            m_painter.setOpacity(opacity);
            used = QFontMetricsF(m_look.fonts.number).horizontalAdvance(number) + 8;
        }
        const QRectF left = inner.adjusted(0, 0, -used, 0);
        const QFontMetricsF title(m_look.fonts.title);
        const QString first = title.elidedText(toQt(box.title), Qt::ElideMiddle, left.width());
        const QFontMetricsF subtitle(m_look.fonts.subtitle);
        if (!operation) {
            draw(left, Qt::AlignVCenter, m_look.fonts.title, first);
            const double taken = title.horizontalAdvance(first) + 8;
            const QRectF rest = left.adjusted(taken, 0, 0, 0);
            draw(rest, Qt::AlignVCenter, m_look.fonts.subtitle,
                subtitle.elidedText(toQt(box.subtitle), Qt::ElideRight, rest.width()));
            return;
        }
        const QString second = m_look.boxes[b].note.isEmpty() ? toQt(box.subtitle) : m_look.boxes[b].note;
        if (second.isEmpty()) {
            draw(left, Qt::AlignVCenter, m_look.fonts.title, first);
            return;
        }
        draw(left, Qt::AlignTop, m_look.fonts.title, first);
        draw(left, Qt::AlignBottom, m_look.fonts.subtitle, subtitle.elidedText(second, Qt::ElideRight, left.width()));
    }

    void draw(const QRectF& rect, Qt::Alignment vertical, const QFont& font, const QString& what)
    {
        m_painter.setFont(font);
        m_painter.drawText(rect, static_cast<int>(Qt::AlignLeft | vertical) | Qt::TextSingleLine, what);
    }

    void paintBadge(uint32_t e)
    {
        const QRectF& rect = m_scene.badge(e);
        if (rect.isEmpty())
            return;
        m_painter.setBrush(m_look.theme.panel);
        m_painter.setPen(QPen(touchesSelection(e) ? m_look.theme.accent : m_look.theme.border, 1));
        m_painter.drawRoundedRect(rect, rect.height() / 2, rect.height() / 2);
        m_painter.setPen(m_look.theme.muted);
        m_painter.setFont(m_look.fonts.badge);
        m_painter.drawText(rect, Qt::AlignCenter, toQt(m_scene.graph().edges[e].badge));
    }

    QPainter& m_painter;
    const GraphScene& m_scene;
    const GraphLook& m_look;
    double m_zoom;
};

} // namespace

QRectF checkRect(const QRectF& box)
{
    return { box.left() - kCheckSize / 2, box.top() - kCheckSize / 2, kCheckSize, kCheckSize };
}

void paintGraph(QPainter& painter, const GraphScene& scene, const GraphLook& look, const QRectF& visible, double zoom)
{
    painter.save();
    GraphPainter(painter, scene, look, zoom).paint(visible);
    painter.restore();
}

void paintMiniature(QPainter& painter, const GraphScene& scene, const GraphLook& look, const QRectF& target)
{
    const QRectF bounds = scene.bounds();
    if (bounds.isEmpty())
        return;
    const double sx = target.width() / bounds.width(), sy = target.height() / bounds.height();
    painter.setPen(Qt::NoPen);
    QPointF last(-1, -1);
    for (uint32_t b = 0; b < scene.boxCount(); ++b) {
        const QRectF& box = scene.box(b);
        const QPointF at(std::floor(box.x() * sx), std::floor(box.y() * sy));
        if (at == last)
            continue; // on the same pixel
        last = at;
        painter.setBrush(fillOf(look, look.boxes[b], look.theme.border));
        painter.drawRect(QRectF(target.x() + box.x() * sx, target.y() + box.y() * sy, std::max(1.5, box.width() * sx),
            std::max(1.0, box.height() * sy)));
    }
}

} // namespace qs
