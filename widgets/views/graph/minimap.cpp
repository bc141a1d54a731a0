// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/graph/minimap.h"

#include "widgets/views/graph/geometry/minimap_size.h"
#include "widgets/views/graph/graph_canvas.h"

#include <QEvent>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace qs {

Minimap::Minimap(GraphCanvas& canvas)
    : QWidget(&canvas)
    , m_canvas(canvas)
{
    setAccessibleName(tr("Minimap"));
    setToolTip(tr("The whole graph; click or drag to move the view"));
    setCursor(Qt::PointingHandCursor);
    canvas.installEventFilter(this);
    connect(&canvas, &GraphCanvas::viewChanged, this, &Minimap::follow);
    connect(&canvas, &GraphCanvas::lookChanged, this, &Minimap::forget);
    hide();
}

bool Minimap::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == &m_canvas && event->type() == QEvent::Resize)
        follow();
    return QWidget::eventFilter(watched, event);
}

void Minimap::forget()
{
    m_picture = {};
    follow();
}

void Minimap::follow()
{
    const GraphScene* scene = m_canvas.scene();
    const bool needed = scene && scene->boxCount() > 0 && m_canvas.width() >= kLeastMapCanvas
        && !m_canvas.visibleArea().contains(scene->bounds());
    setVisible(needed);
    if (!needed)
        return;
    const QSize wanted = minimapSize(scene->bounds(), m_canvas.size());
    if (wanted != size())
        m_picture = {};
    setGeometry(
        QRect(QPoint(m_canvas.width() - wanted.width() - kMapMargin, m_canvas.height() - wanted.height() - kMapMargin),
            wanted));
    update();
}

QRectF Minimap::drawing() const
{
    return QRectF(rect()).adjusted(kMapPadding, kMapPadding, -kMapPadding, -kMapPadding);
}

void Minimap::paintEvent(QPaintEvent*)
{
    const GraphScene* scene = m_canvas.scene();
    if (!scene || scene->bounds().isEmpty())
        return;
    const GraphLook& look = m_canvas.look();
    if (m_picture.isNull()) {
        m_picture = QPixmap(size() * devicePixelRatioF());
        m_picture.setDevicePixelRatio(devicePixelRatioF());
        m_picture.fill(look.theme.window);
        QPainter painter(&m_picture);
        paintMiniature(painter, *scene, look, drawing());
        painter.setPen(look.theme.border);
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(rect().adjusted(0, 0, -1, -1));
    }
    QPainter painter(this);
    painter.drawPixmap(0, 0, m_picture);
    const QRectF bounds = scene->bounds(), area = drawing(), seen = m_canvas.visibleArea().intersected(bounds);
    const double sx = area.width() / bounds.width(), sy = area.height() / bounds.height();
    const QRectF frame(area.x() + seen.x() * sx, area.y() + seen.y() * sy, std::max(4.0, seen.width() * sx),
        std::max(4.0, seen.height() * sy));
    QColor inside = look.theme.accent;
    inside.setAlpha(28);
    painter.setPen(QPen(look.theme.accent, 1.5));
    painter.setBrush(inside);
    painter.drawRect(frame.adjusted(-2, -2, 2, 2).intersected(QRectF(rect()).adjusted(1, 1, -2, -2)));
}

void Minimap::moveTo(QPointF position)
{
    const GraphScene* scene = m_canvas.scene();
    if (!scene)
        return;
    const QRectF area = drawing(), bounds = scene->bounds();
    m_canvas.centreOn({ (position.x() - area.x()) / area.width() * bounds.width(),
        (position.y() - area.y()) / area.height() * bounds.height() });
}

void Minimap::mousePressEvent(QMouseEvent* event) { moveTo(event->position()); }

void Minimap::mouseMoveEvent(QMouseEvent* event)
{
    if (event->buttons() & Qt::LeftButton)
        moveTo(event->position());
}

} // namespace qs

#include "moc_minimap.cpp"
