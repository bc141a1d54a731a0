// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/graph/outline/box_accessible.h"

#include "widgets/models/base/formatting.h"
#include "widgets/views/graph/outline/box_words.h"

#include <QWindow>

namespace qs {

QString boxSentence(const GraphScene& scene, const GraphLook& look, uint32_t box)
{
    const GraphContent& content = *scene.content();
    const DisplayBox& of = scene.graph().boxes[box];
    QStringList parts { boxName(content, of), boxKind(content, of) };
    if (box >= look.boxes.size())
        return parts.join(QStringLiteral(", "));
    const BoxLook& seen = look.boxes[box];
    if (!seen.number.isEmpty())
        parts << (look.metric + u' ' + seen.number).trimmed();
    if (seen.hatched)
        parts << GraphCanvas::tr("cannot run");
    if (!seen.note.isEmpty())
        parts << seen.note;
    if (look.stale && !seen.number.isEmpty())
        parts << GraphCanvas::tr("number not of the present recipe");
    return parts.join(QStringLiteral(", "));
}

BoxAccessible::BoxAccessible(GraphCanvas& canvas, uint32_t box)
    : m_canvas(&canvas)
    , m_scene(canvas.scene())
    , m_box(box)
{
}

bool BoxAccessible::isValid() const { return m_canvas && m_canvas->scene() == m_scene && m_scene; }

QAccessibleInterface* BoxAccessible::parent() const
{
    return m_canvas ? QAccessible::queryAccessibleInterface(m_canvas) : nullptr;
}

bool BoxAccessible::isGroup() const { return m_scene->graph().boxes[m_box].kind == DisplayBox::Kind::Group; }

QString BoxAccessible::text(QAccessible::Text kind) const
{
    if (!isValid() || (kind != QAccessible::Name && kind != QAccessible::Description))
        return {};
    if (kind == QAccessible::Name)
        return boxSentence(*m_scene, m_canvas->look(), m_box);
    const GraphContent& content = *m_scene->content();
    const FoldedGraph& graph = m_scene->graph();
    QStringList parts;
    if (!m_scene->predecessors(m_box).empty())
        parts << GraphCanvas::tr("reads %1").arg(boxNames(content, graph, m_scene->predecessors(m_box)));
    if (!m_scene->successors(m_box).empty())
        parts << GraphCanvas::tr("feeds %1").arg(boxNames(content, graph, m_scene->successors(m_box)));
    if (!graph.frameOfBox.empty() && graph.frameOfBox[m_box] != FoldedGraph::kNoBox)
        parts << GraphCanvas::tr("in %1").arg(toQt(graph.frames[graph.frameOfBox[m_box]].title));
    return parts.join(QStringLiteral("; "));
}

QRect BoxAccessible::rect() const
{
    if (!isValid())
        return {};
    const QRectF box = m_scene->box(m_box);
    const QRectF onCanvas(m_canvas->onWidget(box.topLeft()), box.size() * m_canvas->zoom());
    return QRect(m_canvas->mapToGlobal(onCanvas.topLeft().toPoint()), onCanvas.size().toSize());
}

QAccessible::State BoxAccessible::state() const
{
    QAccessible::State state;
    if (!isValid()) {
        state.invalid = true;
        return state;
    }
    const GraphLook& look = m_canvas->look();
    const bool current = look.selected == m_box;
    state.selectable = state.focusable = state.extSelectable = true;
    state.selected = current || (m_box < look.boxes.size() && look.boxes[m_box].chosen);
    state.focused = state.active = current && m_canvas->hasFocus();
    state.expandable = state.collapsed = isGroup();
    state.offscreen = !m_scene->box(m_box).intersects(m_canvas->visibleArea());
    state.invisible = !m_canvas->isVisible();
    if (m_box < look.boxes.size() && look.boxes[m_box].quantized) {
        state.checkable = true;
        state.checked = look.boxes[m_box].quantized == TriState::All;
        state.checkStateMixed = look.boxes[m_box].quantized == TriState::Some;
    }
    return state;
}

QWindow* BoxAccessible::window() const { return m_canvas ? m_canvas->window()->windowHandle() : nullptr; }

void* BoxAccessible::interface_cast(QAccessible::InterfaceType type)
{
    return type == QAccessible::ActionInterface ? static_cast<QAccessibleActionInterface*>(this) : nullptr;
}

QStringList BoxAccessible::actionNames() const
{
    QStringList names;
    if (!isValid())
        return names;
    names << pressAction();
    if (state().checkable)
        names << toggleAction();
    if (isGroup())
        names << openAction();
    return names;
}

void BoxAccessible::doAction(const QString& name)
{
    if (!actionNames().contains(name))
        return;
    if (name == pressAction())
        emit m_canvas->boxChosen(m_box);
    else if (name == toggleAction())
        emit m_canvas->boxToggled(m_box);
    else
        emit m_canvas->groupOpened(m_box);
}

QStringList BoxAccessible::keyBindingsForAction(const QString& name) const
{
    if (name == toggleAction())
        return { QStringLiteral("E") };
    return name == openAction() ? QStringList { QStringLiteral("+") } : QStringList();
}

QString BoxAccessible::localizedActionName(const QString& name) const
{
    if (name == pressAction())
        return GraphCanvas::tr("Select");
    if (name == toggleAction())
        return GraphCanvas::tr("Quantize or exclude");
    return GraphCanvas::tr("Open the group");
}

} // namespace qs
