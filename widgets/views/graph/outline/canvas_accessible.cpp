// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/graph/outline/canvas_accessible.h"

#include "widgets/views/graph/outline/box_accessible.h"

#include <QEvent>

#include <utility>

namespace qs {

namespace {

CanvasAccessible* accessibleOf(GraphCanvas& canvas)
{
    return static_cast<CanvasAccessible*>(QAccessible::queryAccessibleInterface(&canvas));
}

} // namespace

CanvasAnnouncer::CanvasAnnouncer(GraphCanvas& canvas)
    : QObject(&canvas)
    , m_canvas(canvas)
{
    connect(&canvas, &GraphCanvas::sceneChanged, this, &CanvasAnnouncer::takeScene);
    connect(&canvas, &GraphCanvas::lookChanged, this, &CanvasAnnouncer::takeLook);
    canvas.installEventFilter(this);
}

bool CanvasAnnouncer::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::FocusIn && m_selected)
        tell(QAccessible::Focus, *m_selected);
    return QObject::eventFilter(watched, event);
}

void CanvasAnnouncer::tell(QAccessible::Event event, std::optional<uint32_t> box)
{
    QAccessibleEvent news(&m_canvas, event);
    if (box)
        news.setChild(int(*box));
    QAccessible::updateAccessibility(&news);
    emit told(event, box);
}

void CanvasAnnouncer::takeScene()
{
    accessibleOf(m_canvas)->forgetBoxes();
    m_selected.reset();
    m_name.clear();
    tell(QAccessible::ObjectReorder, std::nullopt);
}

void CanvasAnnouncer::takeLook()
{
    const auto selected = m_canvas.scene() ? m_canvas.look().selected : std::nullopt;
    const QString name = selected ? boxSentence(*m_canvas.scene(), m_canvas.look(), *selected) : QString();
    const bool another = selected != m_selected, renamed = name != m_name;
    m_selected = selected;
    m_name = name;
    if (!selected)
        return;
    if (another) {
        tell(QAccessible::Selection, *selected);
        if (m_canvas.hasFocus())
            tell(QAccessible::Focus, *selected);
    } else if (renamed) {
        tell(QAccessible::NameChanged, *selected);
    }
}

CanvasAccessible::CanvasAccessible(GraphCanvas& canvas)
    : QAccessibleWidget(&canvas, QAccessible::Tree)
    , m_canvas(&canvas)
{
    if (!canvas.findChild<CanvasAnnouncer*>(QString(), Qt::FindDirectChildrenOnly))
        new CanvasAnnouncer(canvas);
}

CanvasAccessible::~CanvasAccessible() { forgetBoxes(); }

const GraphScene* CanvasAccessible::scene() const { return m_canvas ? m_canvas->scene() : nullptr; }

void CanvasAccessible::forgetBoxes()
{
    const auto ids = std::exchange(m_ids, {});
    for (const auto& [box, id] : ids)
        QAccessible::deleteAccessibleInterface(id);
}

int CanvasAccessible::childCount() const { return scene() ? int(scene()->boxCount()) : 0; }

QAccessibleInterface* CanvasAccessible::child(int index) const
{
    if (index < 0 || index >= childCount())
        return nullptr;
    const auto box = uint32_t(index);
    auto known = m_ids.find(box);
    if (known == m_ids.end())
        known = m_ids.emplace(box, QAccessible::registerAccessibleInterface(new BoxAccessible(*m_canvas, box))).first;
    return QAccessible::accessibleInterface(known->second);
}

int CanvasAccessible::indexOfChild(const QAccessibleInterface* child) const
{
    for (const auto& [box, id] : m_ids)
        if (QAccessible::accessibleInterface(id) == child)
            return int(box);
    return -1;
}

QAccessibleInterface* CanvasAccessible::childAt(int x, int y) const
{
    if (!scene())
        return nullptr;
    const QPointF local = m_canvas->mapFromGlobal(QPointF(x, y));
    if (!QRectF(m_canvas->rect()).contains(local))
        return nullptr;
    const auto box = scene()->boxAt(local / m_canvas->zoom() + m_canvas->visibleArea().topLeft());
    return box ? child(int(*box)) : nullptr;
}

QAccessibleInterface* CanvasAccessible::focusChild() const
{
    const auto selected = scene() ? m_canvas->look().selected : std::nullopt;
    return selected && m_canvas->hasFocus() ? child(int(*selected)) : nullptr;
}

QString CanvasAccessible::text(QAccessible::Text kind) const
{
    if (kind == QAccessible::Description && scene())
        return GraphCanvas::tr("%1 boxes. Arrow keys go along the edges, plus and minus open and close groups.")
            .arg(scene()->boxCount());
    return QAccessibleWidget::text(kind);
}

} // namespace qs

#include "moc_canvas_accessible.cpp"
