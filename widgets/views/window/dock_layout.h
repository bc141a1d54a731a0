// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/views/window/docks/arrangement.h"

#include <QByteArray>
#include <QObject>

#include <functional>
#include <map>
#include <optional>
#include <vector>

class QAction;
class QDockWidget;
class QMainWindow;
class QMenu;

namespace qs {

class DockSizes;
class DockTabs;
class Panel;

/// Puts panels into docks, arranges them in named layouts, and remembers the arrangement.
class DockLayout : public QObject {
    Q_OBJECT
public:
    explicit DockLayout(QMainWindow& window);
    QDockWidget* add(Panel* panel, Qt::DockWidgetArea area);
    /// A panel that can be there several times, each pinned to another tensor: made anew for each.
    using PanelMaker = std::function<Panel*()>;
    QDockWidget* add(const PanelMaker& make, Qt::DockWidgetArea area);
    /// One more of such a panel, pinned to what that one shows, in a window of its own; null where there is no other.
    QDockWidget* openAnother(const QString& panelName);
    void apply(LayoutName name);
    /// Which layout takes the place of an arrangement that has no room in the window.
    void setFallback(LayoutName name) { m_fallback = name; }
    void applyTeach(
        const std::vector<std::string>& panels, const std::vector<std::string>& hidden); ///< that layout, with these
    bool front(const QString& panelName); ///< as raise(), without taking the focus
    /// As state() gave it, also where it was empty: the next one is arranged anew then.
    void giveBack(const QByteArray& state);
    /// What can be done with a dock: float, pin, close, close what shares its place, open another.
    void fillMenu(QMenu& menu, QDockWidget* widget);
    /// Shows a panel and brings its tab to the front; false for an unknown name.
    bool raise(const QString& panelName);
    /// Brings both to the front without taking the focus: the first at the left of the window where it was closed, the
    /// second where it waits.
    void showBeside(const QString& leftPanel, const QString& panel);
    /// What showBeside() brought to the front, and still is there, gives way to what was there before.
    void leaveBeside();
    /// While the start page is shown; sizes and tabs are kept for showAgain().
    void hideAll();
    /// As before hideAll(), or as restored; the first time in the layout Inspect. Shares are the shown window's: the
    /// window must be visible.
    void showAgain();
    QList<QAction*> toggleActions() const;
    /// The arrangement, to be kept; empty while nothing was ever opened.
    QByteArray state() const;
    /// As state() gave it; nothing happens for another version's. What is kept from a larger window and has no room in
    /// this one is arranged anew. Takes effect with showAgain() while all are hidden.
    void showState(const QByteArray& state);

signals:
    void applied(qs::LayoutName name);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void endDrags();
    int linesHigh() const;
    void arrange(const Arrangement& a, LayoutName name);
    QDockWidget* makeDock(Panel* panel);
    QDockWidget* dock(const char* panelName) const;
    void place(const Arrangement::Groups& groups, Qt::DockWidgetArea area, Qt::Orientation along);
    void share(const Arrangement::Groups& groups, const std::vector<int>& percent, int whole, Qt::Orientation along);
    bool hasTab(QDockWidget* widget) const;
    bool restore(const QByteArray& state);
    void closeOthers();
    void refreshTitles();
    QList<QDockWidget*> besideInTabs(QDockWidget* widget) const;
    QDockWidget* frontOf(QDockWidget* widget) const;
    void showMenu(QDockWidget* widget, const QPoint& global);

    QMainWindow& m_window;
    DockTabs* m_tabs;
    DockSizes* m_sizes;
    std::map<QString, QDockWidget*> m_docks;
    std::map<QString, QDockWidget*> m_others; ///< opened beside the first of their kind; no layout places them
    std::map<QString, PanelMaker> m_makers; ///< by the name of the first panel of its kind
    std::vector<QDockWidget*> m_order; ///< those that layouts place
    /// A dock that was brought to the front, what was there before, and whether it was closed then.
    struct Raised {
        QDockWidget *widget, *before;
        bool closed;
    };
    std::vector<Raised> m_beside;
    QByteArray m_state; ///< arrangement while all are hidden; empty = never arranged
    bool m_dragged = false; ///< a dock moved with the mouse since the last press
    LayoutName m_fallback = LayoutName::Inspect;
    bool m_arranging = false;
    bool m_shown = false;
};

} // namespace qs
