// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/window/dock_layout.h"

#include "widgets/session/details/shown_place.h"
#include "widgets/views/base/panel.h"
#include "widgets/views/window/docks/dock_sizes.h"
#include "widgets/views/window/docks/dock_tabs.h"
#include "widgets/views/window/docks/dock_title.h"
#include "widgets/views/window/docks/floating_frame.h"

#include <QAction>
#include <QApplication>
#include <QCloseEvent>
#include <QCoreApplication>
#include <QDataStream>
#include <QDockWidget>
#include <QLayout>
#include <QMainWindow>
#include <QMenu>
#include <QMouseEvent>

#include <algorithm>
#include <set>
#include <utility>

namespace qs {

namespace {

constexpr int kStateVersion = 5;
constexpr quint32 kStateMark = 0x51534431; ///< before a state that says what sizes are wanted, too
constexpr int kAroundDocks = 24; ///< pixels: margins of the window and the lines between docks
constexpr int kBesideStep = 40; ///< pixels that another panel lies above and left of the first
constexpr QSize kLeastOther(360, 260);

/// Another tab of its place is in front: it then lies outside of the window.
bool isBehind(const QDockWidget& widget)
{
    return !widget.isHidden() && !widget.isFloating() && widget.geometry().right() < 0;
}

struct KeptState {
    QByteArray docks; ///< as the window gives it
    QByteArray sizes; ///< as DockSizes writes it; empty where an older version kept the state
};

KeptState keptState(const QByteArray& state)
{
    QDataStream in(state);
    in.setVersion(QDataStream::Qt_6_0);
    quint32 mark = 0;
    KeptState kept;
    in >> mark;
    if (mark != kStateMark)
        return { state, {} };
    in >> kept.docks >> kept.sizes;
    return kept;
}

void bringForward(QDockWidget& widget)
{
    widget.show();
    widget.raise();
    widget.widget()->setFocus(Qt::OtherFocusReason);
}

} // namespace

DockLayout::DockLayout(QMainWindow& window)
    : QObject(&window)
    , m_window(window)
    , m_tabs(new DockTabs(window))
    , m_sizes(new DockSizes(window))
{
    qApp->installEventFilter(this);
    m_window.setAnimated(false); // a dropped panel would lie in no place of the arrangement until it has moved there
    connect(m_tabs, &DockTabs::menuAsked, this, &DockLayout::showMenu);
    const auto floats = [](QDockWidget* dock) { dock->setFloating(true); };
    connect(m_tabs, &DockTabs::doubleClicked, this, floats, Qt::QueuedConnection); // its bar is at work still
    window.setDockNestingEnabled(true);
    window.setDocumentMode(true);
    window.setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);
    window.setCorner(Qt::BottomLeftCorner, Qt::LeftDockWidgetArea);
    window.setCorner(Qt::BottomRightCorner, Qt::BottomDockWidgetArea);
}

QDockWidget* DockLayout::add(Panel* panel, Qt::DockWidgetArea area)
{
    QDockWidget* widget = makeDock(panel);
    m_window.addDockWidget(area, widget);
    m_docks[panel->objectName()] = widget;
    m_order.push_back(widget);
    return widget;
}

QDockWidget* DockLayout::add(const PanelMaker& make, Qt::DockWidgetArea area)
{
    Panel* panel = make();
    m_makers[panel->objectName()] = make;
    return add(panel, area);
}

QDockWidget* DockLayout::makeDock(Panel* panel)
{
    auto* widget = new QDockWidget(panel->header()->title(), &m_window);
    widget->setObjectName(QStringLiteral("dock-") + panel->objectName());
    widget->setTitleBarWidget(panel->header());
    widget->setWidget(panel);
    new DockTitle(*widget, *panel);
    new FloatingFrame(*widget);
    panel->header()->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(panel->header(), &QWidget::customContextMenuRequested, this,
        [this, widget](const QPoint& at) { showMenu(widget, widget->titleBarWidget()->mapToGlobal(at)); });
    const auto moved = [this, widget] {
        m_sizes->forget(*widget);
        refreshTitles();
    };
    connect(widget, &QDockWidget::dockLocationChanged, this, moved);
    connect(widget, &QDockWidget::topLevelChanged, this, moved);
    connect(widget, &QDockWidget::visibilityChanged, this, [this, widget](bool inFront) {
        refreshTitles();
        // a dock behind another tab lies outside of the window, yet counts as visible and would take the focus
        const bool behind = !inFront && isBehind(*widget);
        widget->widget()->setEnabled(!behind);
        widget->titleBarWidget()->setEnabled(!behind);
    });
    QAction* toggle = widget->toggleViewAction();
    disconnect(toggle, &QAction::triggered, widget, nullptr); // it would close what lies behind another tab
    connect(toggle, &QAction::triggered, this, [this, widget, toggle] {
        if (isBehind(*widget) || widget->isHidden())
            bringForward(*widget);
        else
            widget->close();
        toggle->setChecked(!widget->isHidden());
    });
    return widget;
}

/// Docks that are in sight in the same place, without this one.
QList<QDockWidget*> DockLayout::besideInTabs(QDockWidget* widget) const
{
    QList<QDockWidget*> others;
    if (!widget->isFloating())
        for (QDockWidget* other : m_window.tabifiedDockWidgets(widget))
            if (!other->isHidden() && !other->isFloating())
                others << other;
    return others;
}

void DockLayout::fillMenu(QMenu& menu, QDockWidget* widget)
{
    widget->findChild<DockTitle*>()->fill(menu);
    const QList<QDockWidget*> others = besideInTabs(widget);
    menu.addAction(tr("Close the &others here"), this,
            [others] {
                for (QDockWidget* other : others)
                    other->close();
            })
        ->setEnabled(!others.isEmpty());
    const auto* panel = static_cast<Panel*>(widget->widget());
    if (!m_makers.contains(panel->kind()))
        return;
    menu.addSeparator();
    menu.addAction(tr("Open &another, pinned"), this, [this, name = panel->objectName()] { openAnother(name); })
        ->setEnabled(!panel->shownPlace()->current().empty());
}

void DockLayout::showMenu(QDockWidget* widget, const QPoint& global)
{
    auto* menu = new QMenu(widget); // the dock may go, and its menu with it, while it is open
    menu->setAttribute(Qt::WA_DeleteOnClose);
    fillMenu(*menu, widget);
    menu->popup(global);
}

QDockWidget* DockLayout::openAnother(const QString& panelName)
{
    const auto& docks = m_docks.contains(panelName) ? m_docks : m_others;
    const auto found = docks.find(panelName);
    if (found == docks.end())
        return nullptr;
    const QDockWidget* of = found->second;
    const auto* first = static_cast<Panel*>(of->widget());
    const auto make = m_makers.find(first->kind());
    if (make == m_makers.end())
        return nullptr;
    Panel* panel = make->second();
    for (int number = 2; m_docks.contains(panel->objectName()) || m_others.contains(panel->objectName()); ++number)
        panel->setNumber(number);
    panel->shownPlace()->pinTo(first->shownPlace()->current());
    endDrags();
    QDockWidget* widget = makeDock(panel);
    widget->setAttribute(Qt::WA_DeleteOnClose);
    connect(widget, &QObject::destroyed, this, [this, name = panel->objectName()] { m_others.erase(name); });
    m_others[panel->objectName()] = widget;
    const QPoint corner = of->mapToGlobal(QPoint(0, 0)) - QPoint(kBesideStep, kBesideStep);
    m_window.addDockWidget(Qt::RightDockWidgetArea, widget);
    widget->setFloating(true);
    widget->setGeometry(QRect(corner, of->size().expandedTo(kLeastOther)));
    widget->show();
    return widget;
}

void DockLayout::closeOthers()
{
    for (const auto& [name, widget] : std::exchange(m_others, {}))
        delete widget;
}

QDockWidget* DockLayout::dock(const char* panelName) const { return m_docks.at(QLatin1String(panelName)); }

/// What is dragged meanwhile holds a layout item of its own, which would be gone when it is dropped: a dock that is
/// asked to close lets go of it.
void DockLayout::endDrags()
{
    for (QDockWidget* widget : m_window.findChildren<QDockWidget*>(Qt::FindDirectChildrenOnly)) {
        QCloseEvent end;
        QCoreApplication::sendEvent(widget, &end);
    }
}

/// Whoever presses a button has let go of what was dragged: a release that never came would end the drag later, when
/// the place that it was to go to may be gone.
bool DockLayout::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == &m_window && event->type() == QEvent::Resize) // before the window's layout hears of it
        m_sizes->beforeResize(static_cast<QResizeEvent*>(event)->oldSize());
    if (event->type() == QEvent::MouseMove && static_cast<QMouseEvent*>(event)->buttons() & Qt::LeftButton)
        m_dragged = m_dragged || qobject_cast<QDockWidget*>(watched);
    if (event->type() == QEvent::MouseButtonPress && std::exchange(m_dragged, false))
        endDrags();
    return QObject::eventFilter(watched, event);
}

int DockLayout::linesHigh() const { return m_window.height() / m_window.fontMetrics().height(); }

void DockLayout::apply(LayoutName name) { arrange(arrangementOf(name, m_window.size(), linesHigh()), name); }

void DockLayout::applyTeach(const std::vector<std::string>& panels, const std::vector<std::string>& hidden)
{
    arrange(teachArrangementWith(panels, hidden, linesHigh()), LayoutName::Teach);
}

void DockLayout::arrange(const Arrangement& a, LayoutName name)
{
    endDrags();
    m_shown = true;
    closeOthers();
    m_arranging = true;
    QLayout* layout = m_window.layout();
    layout->setEnabled(false); // or each dock that comes or goes would have all others laid out
    for (QDockWidget* widget : m_order) {
        widget->setFloating(false);
        m_window.removeDockWidget(widget);
    }
    std::set<QDockWidget*> placed;
    for (const Arrangement::Groups* groups : { &a.left, &a.right, &a.bottom })
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
    for (const Arrangement::Groups* groups : { &a.left, &a.right, &a.bottom })
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
    m_sizes->takeAnew();
    refreshTitles();
    emit applied(name);
}

/// Groups beside each other first, then their tabs: what is split off a tab would become a tab itself.
void DockLayout::place(const Arrangement::Groups& groups, Qt::DockWidgetArea area, Qt::Orientation along)
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

void DockLayout::share(
    const Arrangement::Groups& groups, const std::vector<int>& percent, int whole, Qt::Orientation along)
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
    bringForward(*it->second);
    return true;
}

bool DockLayout::front(const QString& panelName)
{
    const auto it = m_docks.find(panelName);
    if (it == m_docks.end())
        return false;
    it->second->show();
    it->second->raise();
    return true;
}

void DockLayout::giveBack(const QByteArray& state)
{
    if (state.isEmpty() && !m_shown)
        m_state.clear();
    showState(state);
}

void DockLayout::showBeside(const QString& leftPanel, const QString& panel)
{
    endDrags();
    QDockWidget *left = m_docks.at(leftPanel), *other = m_docks.at(panel);
    m_beside.clear();
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
        const bool closed = widget->isHidden();
        QDockWidget* before = closed ? nullptr : frontOf(widget);
        widget->show();
        for (QDockWidget* tab : besideInTabs(widget)) // those that it comes among are known now
            if (closed && !isBehind(*tab))
                before = tab;
        m_beside.push_back({ widget, before, closed });
        widget->raise();
    }
    refreshTitles();
}

void DockLayout::leaveBeside()
{
    for (const auto& [widget, before, closed] : std::exchange(m_beside, {})) {
        if (widget->isHidden() || widget->isFloating() || frontOf(widget) != widget || before == widget)
            continue;
        if (before && !before->isHidden() && !before->isFloating())
            before->raise();
        if (closed)
            widget->hide();
    }
    refreshTitles();
}

/// The tab that is in front where this dock is; null where it is closed.
QDockWidget* DockLayout::frontOf(QDockWidget* widget) const
{
    if (widget->isHidden())
        return nullptr;
    for (QDockWidget* tab : besideInTabs(widget))
        if (!tab->isHidden() && !isBehind(*tab))
            return tab;
    return widget;
}

void DockLayout::hideAll()
{
    endDrags();
    if (m_shown)
        m_state = state();
    m_shown = false;
    closeOthers();
    for (QDockWidget* widget : m_order)
        widget->hide();
}

void DockLayout::showAgain()
{
    if (!restore(m_state))
        apply(LayoutName::Inspect);
    m_shown = true;
    refreshTitles();
}

/// Panels that the state does not know stay closed, behind another one.
bool DockLayout::restore(const QByteArray& state)
{
    endDrags();
    closeOthers();
    if (state.isEmpty())
        return false;
    const QByteArray before = m_window.saveState(kStateVersion);
    // What is shown meanwhile would have all laid out at once, and take tab bars away that restoreState() walks
    // through.
    QLayout* layout = m_window.layout();
    layout->setEnabled(false);
    m_arranging = true;
    for (QDockWidget* widget : m_order)
        m_window.removeDockWidget(widget); // or those that the state does not know would stay in sight
    const KeptState kept = keptState(state);
    const bool known = m_window.restoreState(kept.docks, kStateVersion);
    if (!known)
        m_window.restoreState(before, kStateVersion);
    for (QDockWidget* widget : m_order)
        if (widget->isHidden() && m_window.dockWidgetArea(widget) == Qt::NoDockWidgetArea) {
            widget->setFloating(false);
            m_window.addDockWidget(Qt::BottomDockWidgetArea, widget);
            widget->hide();
        }
    m_arranging = false;
    layout->setEnabled(true);
    layout->activate();
    QDataStream sizes(kept.sizes);
    sizes.setVersion(QDataStream::Qt_6_0);
    if (!known || kept.sizes.isEmpty() || !m_sizes->read(sizes))
        m_sizes->takeAnew();
    if (known && m_sizes->lackRoom()) // what overlaps, or lies outside of the window, cannot be read
        apply(m_fallback);
    return known;
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

QByteArray DockLayout::state() const
{
    if (!m_shown)
        return m_state;
    QByteArray sizes, state;
    QDataStream out(&sizes, QIODevice::WriteOnly), all(&state, QIODevice::WriteOnly);
    out.setVersion(QDataStream::Qt_6_0);
    all.setVersion(QDataStream::Qt_6_0);
    m_sizes->write(out);
    all << kStateMark << m_window.saveState(kStateVersion) << sizes;
    return state;
}

void DockLayout::showState(const QByteArray& state)
{
    if (state.isEmpty())
        return;
    if (m_shown)
        restore(state);
    else
        m_state = state;
    refreshTitles();
}

} // namespace qs

#include "moc_dock_layout.cpp"
