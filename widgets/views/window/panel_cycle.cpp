// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/window/panel_cycle.h"

#include "widgets/views/base/panel.h"
#include "widgets/views/theme/restyling.h"

#include <QApplication>
#include <QDockWidget>

#include <algorithm>
#include <tuple>

namespace qs {

namespace {

bool takesFocus(const QWidget* widget)
{
    return widget && widget->isVisible() && widget->isEnabled() && (widget->focusPolicy() & Qt::TabFocus) != 0;
}

/// The first that Tab would reach in what the panel shows; else the first button of its header.
QWidget* firstIn(Panel& panel)
{
    const auto within
        = [&](const QWidget* widget) { return panel.isAncestorOf(widget) && !panel.header()->isAncestorOf(widget); };
    for (QWidget* widget = panel.nextInFocusChain(); widget && widget != &panel; widget = widget->nextInFocusChain())
        if (takesFocus(widget) && within(widget))
            return widget;
    const QList<QWidget*> tools = panel.header()->findChildren<QWidget*>();
    const auto tool = std::ranges::find_if(tools, takesFocus);
    return tool == tools.end() ? nullptr : *tool;
}

} // namespace

PanelCycle::PanelCycle(QMainWindow& window)
    : QObject(&window)
    , m_window(window)
{
    connect(qApp, &QApplication::focusChanged, this, [this](QWidget*, QWidget* now) { focusMoved(now); });
}

Panel* PanelCycle::panelOf(QWidget* widget)
{
    for (; widget; widget = widget->parentWidget()) {
        if (auto* panel = qobject_cast<Panel*>(widget))
            return panel;
        if (auto* dock = qobject_cast<QDockWidget*>(widget))
            return qobject_cast<Panel*>(dock->widget());
    }
    return nullptr;
}

void PanelCycle::focusMoved(QWidget* now)
{
    Panel* panel = panelOf(now);
    if (panel && !m_window.isAncestorOf(panel))
        return; // of another window
    if (panel)
        m_last[panel] = now;
    QWidget* header = panel ? panel->header() : nullptr;
    if (header == m_marked)
        return;
    if (m_marked)
        setStyled(*m_marked, "current", false);
    m_marked = header;
    if (header)
        setStyled(*header, "current", true);
}

std::vector<Panel*> PanelCycle::inSight() const
{
    std::vector<Panel*> panels;
    for (Panel* panel : m_window.findChildren<Panel*>())
        if (panel->lookedAt() && !panel->visibleRegion().isEmpty())
            panels.push_back(panel);
    const auto place = [this](const Panel* panel) {
        const bool floating = panel->window() != &m_window;
        const QPoint at = panel->mapToGlobal(QPoint());
        return std::tuple(floating, at.x(), at.y());
    };
    std::ranges::sort(panels, {}, place);
    return panels;
}

void PanelCycle::step(bool forward)
{
    const std::vector<Panel*> panels = inSight();
    if (panels.empty())
        return;
    const auto now = std::ranges::find(panels, panelOf(QApplication::focusWidget()));
    const size_t count = panels.size();
    const size_t from = now == panels.end() ? (forward ? count - 1 : 0) : size_t(now - panels.begin());
    for (size_t i = 1; i <= count; ++i) { // one may have nothing that takes the focus now
        Panel* panel = panels[(forward ? from + i : from + count - i) % count];
        enter(*panel);
        if (panelOf(QApplication::focusWidget()) == panel)
            return;
    }
}

void PanelCycle::enter(Panel& panel)
{
    if (panel.window() != &m_window)
        panel.activateWindow();
    QWidget* target = nullptr;
    if (const auto last = m_last.find(&panel); last != m_last.end() && takesFocus(last->second))
        target = last->second;
    if (!target && takesFocus(panel.focusProxy()))
        target = panel.focusProxy();
    if (!target)
        target = firstIn(panel);
    if (target)
        target->setFocus(Qt::TabFocusReason);
}

} // namespace qs

#include "moc_panel_cycle.cpp"
