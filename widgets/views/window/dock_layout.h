// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QObject>

#include <map>
#include <vector>

class QAction;
class QDockWidget;
class QMainWindow;

namespace qs {

class Panel;

enum class LayoutName { Inspect, Compare, WhatIf, Teach };

/// Puts panels into docks, arranges them in named layouts, and remembers the arrangement.
class DockLayout : public QObject {
    Q_OBJECT
public:
    explicit DockLayout(QMainWindow& window);
    QDockWidget* add(Panel* panel, Qt::DockWidgetArea area);
    void apply(LayoutName name);
    /// Shows a panel and brings its tab to the front; false for an unknown name.
    bool raise(const QString& panelName);
    /// Brings both to the front without taking the focus: the first at the left of the window where it was closed, the
    /// second where it waits.
    void showBeside(const QString& leftPanel, const QString& panel);
    /// While the start page is shown; sizes and tabs are kept for showAgain().
    void hideAll();
    /// As before hideAll(), or as restored; the first time in the layout Inspect. Shares are the shown window's: the
    /// window must be visible.
    void showAgain();
    QList<QAction*> toggleActions() const;
    /// The arrangement, to be kept; empty while nothing was ever opened.
    QByteArray state() const;
    /// As state() gave it; nothing happens for another version's. Takes effect with showAgain() while all are hidden.
    void showState(const QByteArray& state);

private:
    QDockWidget* dock(const char* panelName) const;
    struct Arrangement;
    static Arrangement arrangementOf(LayoutName name);
    using Groups = std::vector<std::vector<const char*>>; ///< panels in tabs, the first in front
    void place(const Groups& groups, Qt::DockWidgetArea area, Qt::Orientation along);
    void share(const Groups& groups, const std::vector<int>& percent, int whole, Qt::Orientation along);
    bool hasTab(QDockWidget* widget) const;
    void refreshTitles();

    QMainWindow& m_window;
    std::map<QString, QDockWidget*> m_docks;
    std::vector<QDockWidget*> m_order;
    QByteArray m_state; ///< arrangement while all are hidden; empty = never arranged
    bool m_arranging = false;
    bool m_shown = false;
};

} // namespace qs
