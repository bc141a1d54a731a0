// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/dock_layout.h"

#include "widgets/views/panel.h"

#include <QAction>
#include <QDockWidget>
#include <QLayout>
#include <QMainWindow>
#include <QSettings>

#include <array>

namespace qs {

namespace {

const QString kStateKey = QStringLiteral("window/docks");
constexpr int kStateVersion = 3;
/// Panels that share a place with the tensors.
constexpr std::array kTabbedBelow { "weights", "outputs", "matching", "runs", "advisor", "jobs" };

} // namespace

DockLayout::DockLayout(QMainWindow& window)
    : QObject(&window)
    , m_window(window)
{
    window.setDockNestingEnabled(true);
    window.setDocumentMode(true);
    window.setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);
    window.setCorner(Qt::BottomLeftCorner, Qt::LeftDockWidgetArea);
    window.setCorner(Qt::BottomRightCorner, Qt::BottomDockWidgetArea);
}

QDockWidget* DockLayout::add(Panel* panel, Qt::DockWidgetArea area)
{
    auto* widget = new QDockWidget(panel->header()->title(), &m_window);
    widget->setObjectName(QStringLiteral("dock-") + panel->objectName());
    widget->setTitleBarWidget(panel->header());
    widget->setWidget(panel);
    m_window.addDockWidget(area, widget);
    m_docks[panel->objectName()] = widget;
    m_order.push_back(widget);
    connect(widget, &QDockWidget::dockLocationChanged, this, &DockLayout::refreshTitles);
    connect(widget, &QDockWidget::visibilityChanged, this, [this, widget](bool inFront) {
        refreshTitles();
        // a dock behind another tab lies outside of the window, yet counts as visible and would take the focus
        const bool behind = !inFront && !widget->isHidden() && !widget->isFloating() && widget->geometry().right() < 0;
        widget->widget()->setEnabled(!behind);
        widget->titleBarWidget()->setEnabled(!behind);
    });
    return widget;
}

QDockWidget* DockLayout::dock(const char* panelName) const { return m_docks.at(QLatin1String(panelName)); }

void DockLayout::apply(LayoutName name)
{
    m_shown = true;
    for (QDockWidget* widget : m_order) {
        widget->setFloating(false);
        m_window.removeDockWidget(widget);
    }
    if (name == LayoutName::Inspect)
        arrangeInspect();
    else if (name == LayoutName::Compare)
        arrangeCompare();
    else
        arrangeWhatIf();
    refreshTitles();
}

/// Inspector above the distribution.
void DockLayout::arrangeRight()
{
    m_window.addDockWidget(Qt::RightDockWidgetArea, dock("inspector"));
    m_window.splitDockWidget(dock("inspector"), dock("distribution"), Qt::Vertical);
}

/// Layer chart beside the tables.
void DockLayout::arrangeBottom()
{
    m_window.addDockWidget(Qt::BottomDockWidgetArea, dock("layer-chart"));
    m_window.splitDockWidget(dock("layer-chart"), dock("tensors"), Qt::Horizontal);
    for (const char* name : kTabbedBelow)
        m_window.tabifyDockWidget(dock("tensors"), dock(name));
}

void DockLayout::arrangeInspect()
{
    m_window.addDockWidget(Qt::LeftDockWidgetArea, dock("findings"));
    m_window.tabifyDockWidget(dock("findings"), dock("what-if"));
    arrangeRight();
    arrangeBottom();
    for (QDockWidget* widget : m_order)
        widget->show();
    dock("tensors")->raise();
    dock("findings")->raise();
    m_window.layout()->activate();
    const int width = m_window.width(), height = m_window.height();
    m_window.resizeDocks({ dock("findings") }, { std::max(230, width * 21 / 100) }, Qt::Horizontal);
    m_window.resizeDocks({ dock("inspector") }, { std::max(320, width * 30 / 100) }, Qt::Horizontal);
    m_window.resizeDocks(
        { dock("layer-chart"), dock("tensors") }, { width * 24 / 100, width * 55 / 100 }, Qt::Horizontal);
    m_window.resizeDocks({ dock("tensors") }, { height * 33 / 100 }, Qt::Vertical);
    m_window.resizeDocks(
        { dock("inspector"), dock("distribution") }, { height * 24 / 100, height * 34 / 100 }, Qt::Vertical);
}

/// The recipe at the left from top to bottom, findings above it.
void DockLayout::arrangeWhatIf()
{
    m_window.addDockWidget(Qt::LeftDockWidgetArea, dock("findings"));
    m_window.splitDockWidget(dock("findings"), dock("what-if"), Qt::Vertical);
    arrangeRight();
    arrangeBottom();
    for (QDockWidget* widget : m_order)
        widget->show();
    dock("tensors")->raise();
    m_window.layout()->activate();
    const int width = m_window.width(), height = m_window.height();
    m_window.resizeDocks({ dock("what-if") }, { std::max(280, width * 20 / 100) }, Qt::Horizontal);
    m_window.resizeDocks({ dock("inspector") }, { std::max(300, width * 25 / 100) }, Qt::Horizontal);
    m_window.resizeDocks(
        { dock("layer-chart"), dock("tensors") }, { width * 24 / 100, width * 55 / 100 }, Qt::Horizontal);
    m_window.resizeDocks({ dock("tensors") }, { height * 30 / 100 }, Qt::Vertical);
    m_window.resizeDocks({ dock("findings"), dock("what-if") }, { height * 26 / 100, height * 64 / 100 }, Qt::Vertical);
    m_window.resizeDocks(
        { dock("inspector"), dock("distribution") }, { height * 26 / 100, height * 34 / 100 }, Qt::Vertical);
}

void DockLayout::arrangeCompare()
{
    m_window.addDockWidget(Qt::BottomDockWidgetArea, dock("tensors"));
    for (const char* name : kTabbedBelow)
        m_window.tabifyDockWidget(dock("tensors"), dock(name));
    m_window.addDockWidget(Qt::RightDockWidgetArea, dock("distribution"));
    m_window.splitDockWidget(dock("distribution"), dock("layer-chart"), Qt::Vertical);
    m_window.tabifyDockWidget(dock("distribution"), dock("inspector"));
    m_window.addDockWidget(Qt::LeftDockWidgetArea, dock("findings"));
    m_window.tabifyDockWidget(dock("findings"), dock("what-if"));
    for (QDockWidget* widget : m_order)
        widget->setVisible(widget != dock("findings") && widget != dock("what-if"));
    dock("tensors")->raise();
    dock("distribution")->raise();
    const int width = m_window.width(), height = m_window.height();
    m_window.resizeDocks({ dock("distribution") }, { width * 36 / 100 }, Qt::Horizontal);
    m_window.resizeDocks({ dock("tensors") }, { height * 42 / 100 }, Qt::Vertical);
}

bool DockLayout::raise(const QString& panelName)
{
    const auto it = m_docks.find(panelName);
    if (it == m_docks.end())
        return false;
    it->second->show();
    it->second->raise();
    it->second->widget()->setFocus(Qt::OtherFocusReason);
    return true;
}

void DockLayout::hideAll()
{
    if (m_shown)
        m_state = m_window.saveState(kStateVersion);
    m_shown = false;
    for (QDockWidget* widget : m_order)
        widget->hide();
}

void DockLayout::showAgain()
{
    if (!m_window.restoreState(m_state, kStateVersion))
        apply(LayoutName::Inspect);
    m_shown = true;
    refreshTitles();
}

QList<QAction*> DockLayout::toggleActions() const
{
    QList<QAction*> actions;
    for (const QDockWidget* widget : m_order)
        actions << widget->toggleViewAction();
    return actions;
}

void DockLayout::refreshTitles()
{
    for (QDockWidget* widget : m_order) { // a tab says the title already
        if (auto* header = qobject_cast<PanelHeader*>(widget->titleBarWidget()))
            header->setTitleVisible(m_window.tabifiedDockWidgets(widget).isEmpty());
    }
}

QString DockLayout::state() const
{
    return QString::fromLatin1((m_shown ? m_window.saveState(kStateVersion) : m_state).toBase64());
}

void DockLayout::showState(const QString& state)
{
    const QByteArray bytes = QByteArray::fromBase64(state.toLatin1());
    if (bytes.isEmpty())
        return;
    if (m_shown)
        m_window.restoreState(bytes, kStateVersion);
    else
        m_state = bytes;
    refreshTitles();
}

void DockLayout::save() const
{
    const QByteArray state = m_shown ? m_window.saveState(kStateVersion) : m_state;
    if (!state.isEmpty()) // else nothing was ever opened, and the panels lie as they were made
        QSettings().setValue(kStateKey, state);
}

void DockLayout::restore() { m_state = QSettings().value(kStateKey).toByteArray(); }

} // namespace qs
