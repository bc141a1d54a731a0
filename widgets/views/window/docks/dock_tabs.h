// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QPoint>

class QDockWidget;
class QMainWindow;
class QTabBar;

namespace qs {

/// The tabs that docks have when they share a place. Names are never cut: arrows scroll where there are too many.
class DockTabs : public QObject {
    Q_OBJECT
public:
    explicit DockTabs(QMainWindow& window);

signals:
    void menuAsked(QDockWidget* dock, const QPoint& global);
    void doubleClicked(QDockWidget* dock);

private:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void adopt(QTabBar& bar);
    QDockWidget* dockAt(const QTabBar& bar, const QPoint& position) const;

    QMainWindow& m_window;
};

} // namespace qs
