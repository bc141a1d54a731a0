// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/window/docks/dock_tabs.h"

#include <QChildEvent>
#include <QContextMenuEvent>
#include <QDockWidget>
#include <QMainWindow>
#include <QMouseEvent>
#include <QTabBar>

namespace qs {

DockTabs::DockTabs(QMainWindow& window)
    : QObject(&window)
    , m_window(window)
{
    window.installEventFilter(this); // bars come and go with the docks
}

void DockTabs::adopt(QTabBar& bar)
{
    bar.setElideMode(Qt::ElideNone);
    bar.setUsesScrollButtons(true);
    bar.setAccessibleName(tr("Panels in this place"));
    bar.installEventFilter(this);
}

/// Qt keeps in each tab which dock it is of.
QDockWidget* DockTabs::dockAt(const QTabBar& bar, const QPoint& position) const
{
    const int tab = bar.tabAt(position);
    if (tab < 0)
        return nullptr;
    const auto address = bar.tabData(tab).value<quintptr>();
    for (QDockWidget* dock : m_window.findChildren<QDockWidget*>())
        if (reinterpret_cast<quintptr>(dock) == address)
            return dock;
    return nullptr;
}

bool DockTabs::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == &m_window && event->type() == QEvent::ChildPolished) {
        auto* bar = qobject_cast<QTabBar*>(static_cast<QChildEvent*>(event)->child());
        if (bar)
            adopt(*bar);
        return false;
    }
    const auto* bar = qobject_cast<QTabBar*>(watched);
    if (bar && event->type() == QEvent::ContextMenu) {
        const auto* menu = static_cast<QContextMenuEvent*>(event);
        const bool key = menu->reason() == QContextMenuEvent::Keyboard;
        const QPoint at = key ? bar->tabRect(bar->currentIndex()).center() : menu->pos();
        if (QDockWidget* dock = dockAt(*bar, at))
            emit menuAsked(dock, key ? bar->mapToGlobal(at) : menu->globalPos());
        return true;
    }
    if (bar && event->type() == QEvent::MouseButtonDblClick)
        if (QDockWidget* dock = dockAt(*bar, static_cast<QMouseEvent*>(event)->position().toPoint())) {
            emit doubleClicked(dock);
            return true;
        }
    return QObject::eventFilter(watched, event);
}

} // namespace qs

#include "moc_dock_tabs.cpp"
