// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/window/docks/dock_sizes.h"

#include <QDataStream>
#include <QDockWidget>
#include <QLayout>
#include <QMainWindow>
#include <QMouseEvent>
#include <QScreen>
#include <QTabBar>

#include <algorithm>

namespace qs {

namespace {

constexpr int kLeastShareWide = 230, kLeastShareHigh = 150; ///< pixels: less is no share, but a lack of room

int along(Qt::Orientation o, QSize size) { return o == Qt::Horizontal ? size.width() : size.height(); }

/// What that size of one window is in another; a kept layout may say any number.
int shareOf(int size, int window, int other) { return int(qint64(size) * other / window); }

bool isInPlace(const QDockWidget& dock) { return !dock.isHidden() && !dock.isFloating(); }

/// Behind another tab a dock lies outside of the window.
bool isInFront(const QDockWidget& dock) { return isInPlace(dock) && dock.geometry().right() >= 0; }

} // namespace

DockSizes::DockSizes(QMainWindow& window)
    : QObject(&window)
    , m_window(window)
{
    window.installEventFilter(this);
}

QList<QDockWidget*> DockSizes::fronts() const
{
    QList<QDockWidget*> docks = m_window.findChildren<QDockWidget*>(Qt::FindDirectChildrenOnly);
    docks.removeIf([](const QDockWidget* dock) { return !isInFront(*dock); });
    return docks;
}

/// With the tabs above it, which its place has to hold, too.
int DockSizes::extent(const QDockWidget& dock, Qt::Orientation o) const
{
    const QRect place = dock.geometry();
    if (o == Qt::Horizontal)
        return place.width();
    for (const QTabBar* bar : m_window.findChildren<QTabBar*>(Qt::FindDirectChildrenOnly))
        if (bar->isVisible() && bar->geometry().bottom() + 1 == place.top() && bar->x() == place.x())
            return place.height() + bar->height();
    return place.height();
}

/// Of all that are in sight, or behind one that is.
DockSizes::Sizes DockSizes::current(Qt::Orientation o) const
{
    Sizes sizes;
    for (QDockWidget* dock : fronts()) {
        const int size = extent(*dock, o);
        sizes[dock->objectName()] = size;
        for (const QDockWidget* tab : m_window.tabifiedDockWidgets(dock))
            if (isInPlace(*tab))
                sizes[tab->objectName()] = size;
    }
    return sizes;
}

void DockSizes::takeAnew() { m_widths = {}, m_heights = {}; }

void DockSizes::forget(const QDockWidget& dock)
{
    m_widths.sizes.remove(dock.objectName());
    m_heights.sizes.remove(dock.objectName());
}

/// In a window that is smaller than where they were wanted, sizes may be what the lack of room left: only docks that
/// are new are taken then.
void DockSizes::take(Qt::Orientation o, int window, bool whatever)
{
    Wanted& w = wanted(o);
    const Sizes now = current(o);
    if (now.isEmpty() || window <= 0)
        return;
    if (w.sizes.isEmpty() || whatever || (window >= w.window && now != w.given)) {
        w.window = window;
        for (auto it = now.begin(); it != now.end(); ++it)
            w.sizes[it.key()] = it.value();
        w.given = now;
        return;
    }
    for (auto it = now.begin(); it != now.end(); ++it)
        if (!w.sizes.contains(it.key()))
            w.sizes[it.key()] = shareOf(it.value(), window, w.window);
}

void DockSizes::give(Qt::Orientation o)
{
    Wanted& w = wanted(o);
    const int window = along(o, m_window.size());
    if (w.sizes.isEmpty() || m_giving)
        return;
    QList<QDockWidget*> docks;
    QList<int> sizes;
    const int least = o == Qt::Horizontal ? kLeastShareWide : kLeastShareHigh;
    for (QDockWidget* dock : fronts())
        if (const int size = w.sizes.value(dock->objectName()); size > 0) {
            docks << dock;
            sizes << std::max(shareOf(size, w.window, window), std::min(size, least));
        }
    m_giving = true;
    m_window.resizeDocks(docks, sizes, o);
    m_window.layout()->activate();
    w.given = current(o);
    m_giving = false;
}

void DockSizes::beforeResize(QSize from)
{
    if (m_giving)
        return;
    for (const Qt::Orientation o : { Qt::Horizontal, Qt::Vertical })
        take(o, along(o, from), false);
}

bool DockSizes::eventFilter(QObject* watched, QEvent* event)
{
    switch (event->type()) {
    case QEvent::Resize: // the layout has followed already
        for (const Qt::Orientation o : { Qt::Horizontal, Qt::Vertical })
            give(o);
        break;
    case QEvent::MouseButtonPress: // what is the window's own are the borders between docks
        m_pressedWidths = current(Qt::Horizontal), m_pressedHeights = current(Qt::Vertical);
        break;
    case QEvent::MouseButtonRelease:
        if (current(Qt::Horizontal) != m_pressedWidths)
            take(Qt::Horizontal, m_window.width(), true);
        if (current(Qt::Vertical) != m_pressedHeights)
            take(Qt::Vertical, m_window.height(), true);
        break;
    default:
        break;
    }
    return QObject::eventFilter(watched, event);
}

bool DockSizes::lackRoom() const
{
    const bool grows = m_window.windowState() & (Qt::WindowMaximized | Qt::WindowFullScreen); // it may be about to
    const QSize least = m_window.layout()->minimumSize();
    const QSize now = grows ? m_window.size().expandedTo(m_window.screen()->availableSize()) : m_window.size();
    const auto lacks = [&](const Wanted& w, Qt::Orientation o) {
        return w.window > along(o, now) && along(o, least) > along(o, now);
    };
    return lacks(m_widths, Qt::Horizontal) || lacks(m_heights, Qt::Vertical);
}

void DockSizes::write(QDataStream& out)
{
    beforeResize(m_window.size());
    for (const Wanted* w : { &m_widths, &m_heights })
        out << qint32(w->window) << w->sizes;
}

bool DockSizes::read(QDataStream& in)
{
    takeAnew();
    for (const Qt::Orientation o : { Qt::Horizontal, Qt::Vertical }) {
        qint32 window = 0;
        Sizes sizes;
        in >> window >> sizes;
        const auto fits = [&](int size) { return size > 0 && size <= window; };
        if (in.status() != QDataStream::Ok || window > QWIDGETSIZE_MAX || !std::ranges::all_of(sizes, fits))
            return false;
        if (!sizes.isEmpty())
            wanted(o) = { window, sizes, {} };
    }
    for (const Qt::Orientation o : { Qt::Horizontal, Qt::Vertical })
        give(o);
    return true;
}

} // namespace qs
