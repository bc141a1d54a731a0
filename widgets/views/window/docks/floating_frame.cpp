// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/window/docks/floating_frame.h"

#include <QDockWidget>
#include <QEvent>
#include <QGuiApplication>
#include <QScreen>
#include <QTimer>

#include <algorithm>

namespace qs {

namespace {

/// What the window manager is asked for.
constexpr Qt::WindowFlags kFramed = Qt::Tool | Qt::CustomizeWindowHint | Qt::WindowTitleHint | Qt::WindowSystemMenuHint
    | Qt::WindowMinMaxButtonsHint | Qt::WindowCloseButtonHint;
constexpr int kReachable = 80, kTitleHeight = 32; ///< pixels of a window that have to be on a screen

QList<QRect> screenAreas()
{
    QList<QRect> areas { QGuiApplication::primaryScreen()->availableGeometry() };
    for (const QScreen* screen : QGuiApplication::screens())
        if (screen != QGuiApplication::primaryScreen())
            areas << screen->availableGeometry();
    return areas;
}

} // namespace

QRect onAScreen(const QRect& window, const QList<QRect>& screens)
{
    const auto covered = [&](const QRect& screen) {
        const QRect both = screen.intersected(window);
        return qint64(both.width()) * both.height();
    };
    const QRect screen = *std::ranges::max_element(screens, {}, covered);
    QRect placed(window.topLeft(), window.size().boundedTo(screen.size()));
    const auto reachable = [&](const QRect& area) {
        const QRect title = QRect(placed.topLeft(), QSize(placed.width(), kTitleHeight)).intersected(area);
        return title.height() >= kTitleHeight && title.width() >= std::min(kReachable, placed.width());
    };
    if (std::ranges::any_of(screens, reachable))
        return placed;
    placed.moveLeft(std::clamp(placed.left(), screen.left(), screen.right() + 1 - placed.width()));
    placed.moveTop(std::clamp(placed.top(), screen.top(), screen.bottom() + 1 - placed.height()));
    return placed;
}

FloatingFrame::FloatingFrame(QDockWidget& dock)
    : QObject(&dock)
    , m_dock(dock)
    , m_settle(new QTimer(this))
{
    m_settle->setSingleShot(true);
    m_settle->setInterval(0);
    connect(m_settle, &QTimer::timeout, this, &FloatingFrame::settle);
    connect(&dock, &QDockWidget::topLevelChanged, m_settle, qOverload<>(&QTimer::start));
    connect(qApp, &QGuiApplication::screenRemoved, m_settle, qOverload<>(&QTimer::start));
    dock.installEventFilter(this);
}

bool FloatingFrame::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::MouseButtonRelease || event->type() == QEvent::Show)
        m_settle->start(); // it may have been dragged until now
    return QObject::eventFilter(watched, event);
}

void FloatingFrame::settle()
{
    if (!m_dock.isFloating() || (QGuiApplication::mouseButtons() & Qt::LeftButton))
        return; // a window that is dragged would be lost with its frame
    const bool shown = !m_dock.isHidden();
    const QRect now = m_dock.geometry(), wanted = onAScreen(now, screenAreas());
    if (m_dock.windowFlags() != kFramed) {
        m_dock.setWindowFlags(kFramed);
        m_dock.setGeometry(wanted);
        if (shown)
            m_dock.show();
    } else if (wanted != now) {
        m_dock.setGeometry(wanted);
    }
}

} // namespace qs

#include "moc_floating_frame.cpp"
