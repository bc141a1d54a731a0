// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QMainWindow>
#include <QPointer>

#include <map>

namespace qs {

class Panel;

/// Brings the focus from panel to panel by keys, and marks the header of the one that has it.
class PanelCycle : public QObject {
    Q_OBJECT
public:
    explicit PanelCycle(QMainWindow& window);
    /// To the next panel that is in sight, as people read the window: from left to right, then down; floating ones
    /// last.
    void step(bool forward);
    /// Where the focus was in it, else to what it is there for.
    void enter(Panel& panel);
    static Panel* panelOf(QWidget* widget); ///< that it lies in, or whose header it is in; null: none

private:
    void focusMoved(QWidget* now);
    std::vector<Panel*> inSight() const;

    QMainWindow& m_window;
    QPointer<QWidget> m_marked; ///< the header of the panel that has the focus; the panel may be going
    std::map<Panel*, QPointer<QWidget>> m_last; ///< what had the focus in each
};

} // namespace qs
