// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/graph/group_painter.h"

#include "widgets/models/base/formatting.h"

#include <QPainter>

#include <algorithm>

namespace qs {

namespace {

constexpr double kMark = 13; ///< side of the mark that opens and closes
constexpr double kStrip = 6; ///< height of the strip
constexpr double kFrameCorner = 6;
constexpr double kPlainFrames = 10; ///< of the scene in a pixel, from which on no corner can be told from a round one
constexpr double kStack = 3; ///< pixels between the edges of a stack

void paintMark(QPainter& painter, const QRectF& mark, const QColor& ink, bool plus)
{
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(ink, 1.2));
    painter.drawRoundedRect(mark, 2.5, 2.5);
    const QRectF cross = mark.adjusted(3, 3, -3, -3);
    painter.drawLine(QPointF(cross.left(), cross.center().y()), QPointF(cross.right(), cross.center().y()));
    if (plus)
        painter.drawLine(QPointF(cross.center().x(), cross.top()), QPointF(cross.center().x(), cross.bottom()));
}

} // namespace

QRectF foldMarkRect(const QRectF& rect) { return { rect.left() + 8, rect.top() + 7, kMark, kMark }; }

void paintFrames(QPainter& painter, const GraphScene& scene, const FramePainting& how, const QRectF& visible)
{
    QColor ground = how.theme.text;
    ground.setAlphaF(how.theme.dark ? 0.05f : 0.035f);
    const QFontMetricsF metrics(how.font);
    for (uint32_t f = 0; f < scene.frameCount(); ++f) {
        const QRectF& rect = scene.frame(f);
        if (rect.height() < how.least || !rect.intersects(visible))
            continue;
        painter.setBrush(ground);
        painter.setPen(QPen(how.theme.border, std::max(1.0, how.onePixel)));
        if (how.onePixel > kPlainFrames)
            painter.drawRect(rect);
        else
            painter.drawRoundedRect(rect, kFrameCorner, kFrameCorner);
        if (!how.readable)
            continue;
        const QRectF title = scene.frameTitle(f), mark = foldMarkRect(title);
        paintMark(painter, mark, how.theme.muted, false);
        painter.setPen(how.theme.muted);
        painter.setFont(how.font);
        const QRectF room(mark.right() + 7, title.top(), title.right() - mark.right() - 14, title.height());
        painter.drawText(room, static_cast<int>(Qt::AlignLeft | Qt::AlignVCenter) | Qt::TextSingleLine,
            metrics.elidedText(toQt(scene.graph().frames[f].title), Qt::ElideMiddle, room.width()));
    }
}

void paintStack(QPainter& painter, const QRectF& box, const Theme& theme)
{
    painter.setBrush(theme.raised);
    painter.setPen(QPen(theme.muted, 1));
    for (const double way : { 2 * kStack, kStack })
        painter.drawRoundedRect(box.translated(way, way), 4, 4);
}

void paintGroupMarks(
    QPainter& painter, const QRectF& box, const std::vector<QColor>& strip, const Theme& theme, const QColor& ink)
{
    paintMark(painter, foldMarkRect(box), ink, true);
    if (strip.empty())
        return;
    const QRectF place(box.left() + 8, box.bottom() - kStrip - 5, box.width() - 16, kStrip);
    const double each = place.width() / double(strip.size());
    painter.setPen(Qt::NoPen);
    for (size_t i = 0; i < strip.size(); ++i) {
        painter.setBrush(strip[i].isValid() ? strip[i] : theme.raised);
        painter.drawRect(QRectF(place.left() + double(i) * each, place.top(), each, place.height()));
    }
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(ink, 0.8));
    painter.drawRect(place);
}

} // namespace qs
