// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/window/dock_layout.h"

#include "widgets/views/base/panel.h"

#include <QAction>
#include <QDockWidget>
#include <QLayout>
#include <QMainWindow>

#include <algorithm>
#include <set>

namespace qs {

namespace {

constexpr int kStateVersion = 5;
constexpr int kAroundDocks = 24; ///< pixels: margins of the window and the lines between docks

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

/// Which panels a layout shows, and where; the rest waits behind the last group, closed.
struct DockLayout::Arrangement {
    Groups left, right, bottom; ///< from top to bottom; bottom: from left to right
    int leftWidth = 0, leftLeast = 0, rightWidth = 0, rightLeast = 0; ///< percent of the window; pixels
    int bottomHeight = 0; ///< percent
    std::vector<int> leftHeights, rightHeights; ///< percent of the window, one a group
    std::vector<int> bottomWidths; ///< percent of what the left leaves, one a group
};

DockLayout::Arrangement DockLayout::arrangementOf(LayoutName name)
{
    Arrangement a;
    switch (name) {
    case LayoutName::Inspect:
        a.left = { { "findings", "what-if" } };
        a.right = { { "inspector" }, { "distribution", "channels", "error-map" } };
        a.bottom
            = { { "layer-chart" }, { "tensors", "weights", "weight-lab", "outputs", "samples", "matching", "jobs" } };
        a.leftWidth = 21, a.leftLeast = 230, a.rightWidth = 30, a.rightLeast = 320;
        a.rightHeights = { 24, 34 }, a.bottomWidths = { 30, 70 }, a.bottomHeight = 33;
        break;
    case LayoutName::Compare:
        a.left = { { "graph-2" } };
        a.right = { { "inspector" }, { "distribution", "channels", "error-map" } };
        a.bottom = { { "tensors", "weights", "difference", "elements", "files", "ladder", "matching", "samples",
            "outputs", "saturation", "layer-chart", "jobs" } };
        a.leftWidth = 33, a.leftLeast = 260, a.rightWidth = 28, a.rightLeast = 300;
        a.rightHeights = { 24, 34 }, a.bottomHeight = 36;
        break;
    case LayoutName::WhatIf:
        a.left = { { "findings" }, { "what-if" } };
        a.right = { { "inspector" }, { "distribution", "channels", "error-map" } };
        a.bottom = { { "layer-chart" }, { "tensors", "weights", "outputs", "samples", "runs", "advisor", "jobs" } };
        a.leftWidth = 20, a.leftLeast = 300, a.rightWidth = 25, a.rightLeast = 300;
        a.leftHeights = { 26, 64 }, a.rightHeights = { 26, 34 }, a.bottomWidths = { 30, 70 }, a.bottomHeight = 30;
        break;
    case LayoutName::Teach: // few things, large
        a.left = { { "findings", "what-if" } };
        a.right = { { "inspector" }, { "distribution", "channels" } };
        a.bottom = { { "layer-chart" } };
        a.leftWidth = 22, a.leftLeast = 250, a.rightWidth = 36, a.rightLeast = 320;
        a.rightHeights = { 32, 48 }, a.bottomHeight = 26;
        break;
    }
    return a;
}

void DockLayout::apply(LayoutName name)
{
    m_shown = true;
    const Arrangement a = arrangementOf(name);
    m_arranging = true;
    QLayout* layout = m_window.layout();
    layout->setEnabled(false); // or each dock that comes or goes would have all others laid out
    for (QDockWidget* widget : m_order) {
        widget->setFloating(false);
        m_window.removeDockWidget(widget);
    }
    std::set<QDockWidget*> placed;
    for (const Groups* groups : { &a.left, &a.right, &a.bottom })
        for (const auto& group : *groups)
            for (const char* panel : group)
                placed.insert(dock(panel));
    place(a.left, Qt::LeftDockWidgetArea, Qt::Vertical);
    place(a.right, Qt::RightDockWidgetArea, Qt::Vertical);
    place(a.bottom, Qt::BottomDockWidgetArea, Qt::Horizontal);
    for (QDockWidget* widget : m_order) {
        if (!placed.count(widget))
            m_window.tabifyDockWidget(dock(a.bottom.back().front()), widget);
        widget->setVisible(placed.count(widget) > 0);
    }
    for (const Groups* groups : { &a.left, &a.right, &a.bottom })
        for (const auto& group : *groups)
            dock(group.front())->raise();
    m_arranging = false;
    refreshTitles();
    layout->setEnabled(true);
    layout->activate();
    const int width = m_window.width(), height = m_window.height();
    const int left = std::max(a.leftLeast, width * a.leftWidth / 100);
    m_window.resizeDocks({ dock(a.left[0][0]), dock(a.right[0][0]) }, // together: one would take from the other
        { left, std::max(a.rightLeast, width * a.rightWidth / 100) }, Qt::Horizontal);
    share(a.bottom, a.bottomWidths, width - left - kAroundDocks, Qt::Horizontal); // more would narrow the left
    m_window.resizeDocks({ dock(a.bottom.back()[0]) }, { height * a.bottomHeight / 100 }, Qt::Vertical);
    share(a.left, a.leftHeights, height, Qt::Vertical);
    share(a.right, a.rightHeights, height, Qt::Vertical);
    refreshTitles();
}

/// Groups beside each other first, then their tabs: what is split off a tab would become a tab itself.
void DockLayout::place(const Groups& groups, Qt::DockWidgetArea area, Qt::Orientation along)
{
    for (size_t i = 0; i < groups.size(); ++i) {
        if (i == 0)
            m_window.addDockWidget(area, dock(groups[i].front()));
        else
            m_window.splitDockWidget(dock(groups[i - 1].front()), dock(groups[i].front()), along);
    }
    for (const auto& group : groups)
        for (size_t i = 1; i < group.size(); ++i)
            m_window.tabifyDockWidget(dock(group.front()), dock(group[i]));
}

void DockLayout::share(const Groups& groups, const std::vector<int>& percent, int whole, Qt::Orientation along)
{
    QList<QDockWidget*> docks;
    QList<int> sizes;
    for (size_t i = 0; i < percent.size(); ++i) {
        docks << dock(groups[i].front());
        sizes << whole * percent[i] / 100;
    }
    m_window.resizeDocks(docks, sizes, along);
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

void DockLayout::showBeside(const QString& leftPanel, const QString& panel)
{
    QDockWidget *left = m_docks.at(leftPanel), *other = m_docks.at(panel);
    if (left->isHidden() && !left->isFloating()) {
        const auto inLeft = std::ranges::find_if(m_order, [&](QDockWidget* widget) {
            return !widget->isHidden() && !widget->isFloating()
                && m_window.dockWidgetArea(widget) == Qt::LeftDockWidgetArea;
        });
        m_window.addDockWidget(Qt::LeftDockWidgetArea, left);
        if (inLeft != m_order.end())
            m_window.tabifyDockWidget(*inLeft, left);
    }
    for (QDockWidget* widget : { left, other }) {
        widget->show();
        widget->raise();
    }
    refreshTitles();
}

void DockLayout::hideAll()
{
    if (m_shown)
        m_state = state();
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

/// Docks that are closed wait behind others, without a tab.
bool DockLayout::hasTab(QDockWidget* widget) const
{
    return std::ranges::any_of(
        m_window.tabifiedDockWidgets(widget), [](const QDockWidget* other) { return !other->isHidden(); });
}

void DockLayout::refreshTitles()
{
    if (m_arranging) // each dock that comes or goes would ask for all titles
        return;
    for (QDockWidget* widget : m_order) { // a tab says the title already
        if (auto* header = qobject_cast<PanelHeader*>(widget->titleBarWidget()))
            header->setTitleVisible(!hasTab(widget));
    }
}

QByteArray DockLayout::state() const { return m_shown ? m_window.saveState(kStateVersion) : m_state; }

void DockLayout::showState(const QByteArray& state)
{
    if (state.isEmpty())
        return;
    if (m_shown)
        m_window.restoreState(state, kStateVersion);
    else
        m_state = state;
    refreshTitles();
}

} // namespace qs
