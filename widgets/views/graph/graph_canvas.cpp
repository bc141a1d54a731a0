// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/graph/graph_canvas.h"

#include "widgets/views/base/text/font_units.h"
#include "widgets/views/base/text/wrapped_tips.h"
#include "widgets/views/graph/geometry/minimap_size.h"
#include "widgets/views/graph/group_painter.h"

#include <QApplication>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>
#include <utility>

namespace qs {

namespace {

constexpr double kSmallestZoom = 1e-6, kLargestZoom = 4;
constexpr double kReadableZoom = 0.72; ///< the whole graph is shown at first if its text stays readable
constexpr double kReach = 4; ///< pixels around an edge that count as a hit
constexpr double kRoomAround = 0.9; ///< of the widget that what is zoomed to takes
constexpr double kZoomStep = 1.25;
constexpr double kSlack = 80; ///< pixels of the drawing that stay visible when panning

} // namespace

GraphCanvas::GraphCanvas(QWidget* parent)
    : QWidget(parent)
{
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Graph"));
}

void GraphCanvas::setScene(std::shared_ptr<const GraphScene> scene, FirstView view)
{
    const bool kept = view == FirstView::Kept && m_scene && scene && !m_untouched;
    m_scene = std::move(scene);
    m_look.boxes.assign(m_scene ? m_scene->boxCount() : 0, {});
    m_look.selected.reset();
    m_look.hovered.reset();
    m_look.selectedEdge.reset();
    m_untouched = !kept;
    if (kept)
        setView(m_zoom, m_offset);
    else
        showFirstView();
    emit sceneChanged();
    update();
}

void GraphCanvas::setMessage(const QString& text)
{
    m_message = text;
    update();
}

void GraphCanvas::setLook(GraphLook look)
{
    const bool moved = look.selected && look.selected != m_look.selected;
    look.hovered = m_look.hovered;
    m_look = std::move(look);
    if (moved && m_untouched)
        showFirstView();
    else if (moved)
        showBox(*m_look.selected);
    emit lookChanged();
    update();
}

void GraphCanvas::setTips(TipText box, TipText edge)
{
    m_boxTip = std::move(box);
    m_edgeTip = std::move(edge);
}

void GraphCanvas::setCovered(int pixels)
{
    if (pixels == m_covered)
        return;
    m_covered = pixels;
    if (m_untouched)
        showFirstView();
}

QRectF GraphCanvas::visibleArea() const
{
    return { toScene({ 0, 0 }), toScene({ double(width()), double(height()) }) };
}

double GraphCanvas::fitZoom() const
{
    const QRectF bounds = m_scene ? m_scene->bounds() : QRectF();
    if (bounds.isEmpty())
        return 1;
    return std::clamp(std::min(width() / bounds.width(), uncovered() / bounds.height()), kSmallestZoom, textZoom());
}

/// Texts of the drawing have the size of the usual font; beside a larger one they are drawn larger.
double GraphCanvas::textZoom() const { return std::max(1.0, fontUnits(fontMetrics(), 100) / 100.0); }

/// The whole graph if it is readable, else its top or the selection at 100 %, beside the minimap where it fits there.
void GraphCanvas::showFirstView()
{
    if (!m_scene || m_scene->boxCount() == 0 || width() < 2 || height() < 2)
        return;
    const QRectF bounds = m_scene->bounds();
    const double whole = fitZoom();
    const double text = textZoom();
    if (whole >= kReadableZoom * text) {
        setView(whole, middle() - bounds.center() * whole);
        return;
    }
    const double beside = width() - minimapRoom(bounds, size());
    const bool fits = bounds.width() * kReadableZoom * text <= beside;
    const double room = fits ? beside : width();
    const double zoom = std::clamp(room / bounds.width(), kReadableZoom * text, text);
    const uint32_t box = m_look.selected.value_or(0);
    const QPointF centre = m_scene->box(box).center();
    QPointF offset = middle() - centre * zoom;
    if (bounds.width() * zoom <= room)
        offset.setX(std::min((width() - bounds.width() * zoom) / 2, room - bounds.width() * zoom));
    const double lowest = height() - bounds.height() * zoom;
    offset.setY(std::clamp(offset.y(), std::min(double(m_covered), lowest), double(m_covered)));
    setView(zoom, offset);
}

void GraphCanvas::setView(double zoom, QPointF offset)
{
    m_zoom = zoom;
    m_offset = offset;
    keepInside();
    emit viewChanged();
    update();
}

/// Some of the drawing always stays in sight.
void GraphCanvas::keepInside()
{
    if (!m_scene)
        return;
    const QSizeF size = m_scene->bounds().size() * m_zoom;
    const auto bounded = [](double at, double drawing, double room) {
        return std::clamp(at, std::min(kSlack - drawing, room - kSlack), std::max(kSlack - drawing, room - kSlack));
    };
    m_offset = { bounded(m_offset.x(), size.width(), width()), bounded(m_offset.y(), size.height(), height()) };
}

void GraphCanvas::fit()
{
    if (!m_scene)
        return;
    const double zoom = fitZoom();
    m_untouched = false;
    setView(zoom, middle() - m_scene->bounds().center() * zoom);
}

void GraphCanvas::focusSelection()
{
    QRectF chosen;
    for (uint32_t b = 0; m_scene && b < m_look.boxes.size(); ++b)
        if (m_look.boxes[b].chosen)
            chosen |= m_scene->box(b);
    if (!chosen.isEmpty()) {
        const double zoom = std::min(width() / chosen.width(), height() / chosen.height()) * kRoomAround;
        m_untouched = false;
        setView(
            std::min(zoom, textZoom()), QPointF(width(), height()) / 2 - chosen.center() * std::min(zoom, textZoom()));
        return;
    }
    if (!m_scene || !m_look.selected)
        return;
    m_untouched = false;
    m_zoom = std::max(m_zoom, kReadableZoom * textZoom());
    centreOn(m_scene->box(*m_look.selected).center());
}

void GraphCanvas::centreOn(QPointF point)
{
    m_untouched = false;
    setView(m_zoom, QPointF(width(), height()) / 2 - point * m_zoom);
}

void GraphCanvas::showBox(uint32_t box)
{
    if (!m_scene)
        return;
    const QRectF uncovered = QRectF(this->rect()).adjusted(0, m_covered, 0, 0);
    const auto onWidget = [this](const QRectF& r) { return QRectF(this->onWidget(r.topLeft()), r.size() * m_zoom); };
    if (uncovered.adjusted(-1, -1, 1, 1).contains(onWidget(m_scene->bounds())))
        return; // all of it is in sight
    if (!uncovered.adjusted(24, 24, -24, -24).contains(onWidget(m_scene->box(box))))
        setView(m_zoom, middle() - m_scene->box(box).center() * m_zoom);
}

void GraphCanvas::reveal(uint32_t box)
{
    if (!m_scene)
        return;
    if (m_zoom < kReadableZoom * textZoom()) {
        m_zoom = textZoom();
        centreOn(m_scene->box(box).center());
    } else {
        showBox(box);
    }
}

void GraphCanvas::moveTo(QPointF scene, QPointF widget)
{
    m_untouched = false;
    setView(m_zoom, widget - scene * m_zoom);
}

void GraphCanvas::zoomAt(QPointF widget, double factor)
{
    const double zoom = std::clamp(m_zoom * factor, fitZoom() / 2, kLargestZoom);
    const QPointF fixed = toScene(widget);
    m_untouched = false;
    setView(zoom, widget - fixed * zoom);
}

void GraphCanvas::zoomBy(bool closer) { zoomAt(QPointF(width(), height()) / 2, closer ? kZoomStep : 1 / kZoomStep); }

void GraphCanvas::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.fillRect(rect(), m_look.theme.panel);
    if (!m_scene || m_scene->boxCount() == 0) {
        painter.setPen(m_look.theme.muted);
        painter.drawText(
            rect().adjusted(24, 24, -24, -24), static_cast<int>(Qt::AlignCenter) | Qt::TextWordWrap, m_message);
    } else {
        painter.save();
        painter.translate(m_offset);
        painter.scale(m_zoom, m_zoom);
        paintGraph(painter, *m_scene, m_look, visibleArea(), m_zoom);
        painter.restore();
        paintBand(painter);
    }
    if (m_focusShown) {
        painter.setPen(QPen(m_look.theme.accent, 2));
        painter.drawRect(rect().adjusted(1, 1, -1, -1));
    }
}

void GraphCanvas::resizeEvent(QResizeEvent* event)
{
    if (m_untouched)
        showFirstView();
    else if (event->oldSize().isValid())
        setView(
            m_zoom, m_offset + QPointF(width() - event->oldSize().width(), height() - event->oldSize().height()) / 2);
    QWidget::resizeEvent(event);
}

void GraphCanvas::wheelEvent(QWheelEvent* event)
{
    if (event->modifiers() & Qt::ShiftModifier) {
        const QPoint delta = event->angleDelta();
        m_untouched = false;
        setView(m_zoom, m_offset + QPointF(delta.y() + delta.x(), 0) / 2);
    } else {
        zoomAt(event->position(), std::pow(1.0015, event->angleDelta().y()));
    }
    event->accept();
}

std::optional<uint32_t> GraphCanvas::checkAt(QPointF point) const
{
    const QRectF corner = checkRect({});
    const auto box = m_scene->boxAt(point + QPointF(corner.width(), corner.height()) / 2);
    const bool there = box && m_look.boxes[*box].quantized && checkRect(m_scene->box(*box)).contains(point);
    return there ? box : std::nullopt;
}

void GraphCanvas::mousePressEvent(QMouseEvent* event)
{
    if (event->button() == Qt::LeftButton || event->button() == Qt::MiddleButton) {
        QToolTip::hideText(); // it would stay where it was while the drawing moves
        m_pressed = event->position();
        m_offsetAtPress = m_offset;
        m_dragging = false;
        m_banding = event->button() == Qt::LeftButton && (event->modifiers() & Qt::ShiftModifier) && m_scene;
        m_bandEnd = event->position();
        return;
    }
    QWidget::mousePressEvent(event);
}

void GraphCanvas::mouseMoveEvent(QMouseEvent* event)
{
    if (m_pressed) {
        const QPointF way = event->position() - *m_pressed;
        m_dragging = m_dragging || way.manhattanLength() >= QApplication::startDragDistance();
        if (m_dragging && m_banding) {
            m_bandEnd = event->position();
            update();
        } else if (m_dragging) {
            setCursor(Qt::ClosedHandCursor);
            m_untouched = false;
            setView(m_zoom, m_offsetAtPress + way);
        }
        return;
    }
    const QPointF at = toScene(event->position());
    auto box = m_scene ? m_scene->boxAt(at) : std::nullopt;
    if (m_scene && !box)
        box = checkAt(at);
    if (box != m_look.hovered) {
        m_look.hovered = box;
        setCursor(box ? Qt::PointingHandCursor : Qt::ArrowCursor);
        update();
    }
}

void GraphCanvas::mouseReleaseEvent(QMouseEvent* event)
{
    if (!m_pressed)
        return;
    const bool click = !m_dragging && event->button() == Qt::LeftButton;
    const bool banded = m_dragging && std::exchange(m_banding, false);
    const QRectF band = QRectF(toScene(*m_pressed), toScene(m_bandEnd)).normalized();
    m_pressed.reset();
    m_dragging = false;
    unsetCursor();
    if (banded && m_scene)
        emit boxesChosen(m_scene->boxesIn(band));
    if (banded)
        update();
    else if (click && m_scene)
        clickAt(toScene(event->position()), event->modifiers());
}

void GraphCanvas::clickAt(QPointF point, Qt::KeyboardModifiers modifiers)
{
    const auto box = m_scene->boxAt(point);
    const bool group = box && m_scene->graph().boxes[*box].kind == DisplayBox::Kind::Group;
    if (const auto check = checkAt(point))
        emit boxToggled(*check);
    else if (box && (modifiers & (Qt::ShiftModifier | Qt::ControlModifier)))
        emit boxAdded(*box);
    else if (group && foldMarkRect(m_scene->box(*box)).adjusted(-3, -3, 3, 3).contains(point))
        emit groupOpened(*box);
    else if (box)
        emit boxChosen(*box);
    else if (const auto frame = m_scene->frameTitleAt(point))
        emit frameClosed(*frame);
    else if (const auto edge = m_scene->edgeAt(point, kReach / m_zoom))
        emit edgeChosen(*edge);
    else
        emit boxesChosen({});
}

void GraphCanvas::paintBand(QPainter& painter) const
{
    if (!m_banding || !m_dragging)
        return;
    QColor inside = m_look.theme.accent;
    inside.setAlpha(28);
    painter.setPen(QPen(m_look.theme.accent, 1));
    painter.setBrush(inside);
    painter.drawRect(QRectF(*m_pressed, m_bandEnd).normalized());
}

void GraphCanvas::mouseDoubleClickEvent(QMouseEvent* event)
{
    const auto box = m_scene ? m_scene->boxAt(toScene(event->position())) : std::nullopt;
    if (box && m_scene->graph().boxes[*box].kind == DisplayBox::Kind::Group)
        emit groupOpened(*box);
    else if (box)
        focusSelection();
    else
        fit();
}

void GraphCanvas::leaveEvent(QEvent* event)
{
    m_look.hovered.reset();
    update();
    QWidget::leaveEvent(event);
}

std::optional<uint32_t> GraphCanvas::neighbour(int key) const
{
    if (!m_look.selected)
        return 0;
    const uint32_t from = *m_look.selected;
    if (key == Qt::Key_Left || key == Qt::Key_Right)
        return m_scene->beside(from, key == Qt::Key_Right ? 1 : -1);
    const std::vector<uint32_t>& next = key == Qt::Key_Down ? m_scene->successors(from) : m_scene->predecessors(from);
    if (next.empty())
        return std::nullopt;
    const double x = m_scene->box(from).center().x();
    return *std::ranges::min_element(
        next, {}, [&](uint32_t b) { return std::pair(std::abs(m_scene->box(b).center().x() - x), b); });
}

void GraphCanvas::keyPressEvent(QKeyEvent* event)
{
    if (!m_scene || m_scene->boxCount() == 0) {
        QWidget::keyPressEvent(event);
        return;
    }
    switch (event->key()) {
    case Qt::Key_Up:
    case Qt::Key_Down:
    case Qt::Key_Left:
    case Qt::Key_Right:
        if (const auto box = neighbour(event->key()))
            emit boxChosen(*box);
        return;
    default:
        QWidget::keyPressEvent(event);
    }
}

bool GraphCanvas::event(QEvent* event)
{
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        showTip(help->pos(), help->globalPos());
        return true;
    }
    return QWidget::event(event);
}

void GraphCanvas::showTip(const QPoint& local, const QPoint& global)
{
    QString text;
    if (m_scene && !m_pressed) {
        const QPointF at = toScene(local);
        if (const auto box = m_scene->boxAt(at); box && m_boxTip)
            text = m_boxTip(*box);
        else if (const auto edge = m_scene->edgeAt(at, kReach / m_zoom); edge && m_edgeTip)
            text = m_edgeTip(*edge);
    }
    if (text.isEmpty())
        QToolTip::hideText();
    else
        QToolTip::showText(global, wrappedTip(text), this);
}

void GraphCanvas::focusInEvent(QFocusEvent* event)
{
    m_focusShown = event->reason() == Qt::TabFocusReason || event->reason() == Qt::BacktabFocusReason;
    update();
    QWidget::focusInEvent(event);
}

void GraphCanvas::focusOutEvent(QFocusEvent* event)
{
    m_focusShown = false;
    update();
    QWidget::focusOutEvent(event);
}

} // namespace qs

#include "moc_graph_canvas.cpp"
