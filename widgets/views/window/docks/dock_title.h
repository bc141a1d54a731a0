// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QString>

class QAction;
class QDockWidget;
class QMenu;

namespace qs {

class Panel;
class ShownPlace;
class SignButton;

/// What the title of a dock offers, as buttons at its end and for menus: pin what the panel shows, float it, close it.
/// A pinned panel says in its title what it holds.
class DockTitle : public QObject {
    Q_OBJECT
public:
    DockTitle(QDockWidget& dock, Panel& panel);
    /// The same as a menu, with the shortcuts of the panel.
    void fill(QMenu& menu) const;

private:
    void buildActions();
    void nameFloat();
    void namePinned();

    QDockWidget& m_dock;
    Panel& m_panel;
    ShownPlace* m_place; ///< of the panel; null where it follows no selection
    QString m_title; ///< of the panel
    QAction* m_pin = nullptr;
    QAction* m_float;
    QAction* m_close;
    SignButton* m_floatButton = nullptr;
};

} // namespace qs
