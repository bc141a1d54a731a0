// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QKeySequence>
#include <QList>
#include <QObject>
#include <QPointer>
#include <QString>

#include <map>
#include <vector>

class QAction;
class QMainWindow;
class QMenu;

namespace qs {

/// What the user can do by a name: one action of the window, or the same action of several panels.
struct ActionEntry {
    QString id; ///< "file.openFloat"
    QString scope; ///< title of the panel that must have the focus for its keys; empty: they work in the whole window
    QString path; ///< where it stands: "View ▸ Theme", or the panel
    QList<QKeySequence> standard; ///< its keys as the program comes
    std::vector<QPointer<QAction>> actions; ///< more than one: in panels of one kind

    QAction* action() const; ///< the first that is still there; null: none is
    QString text() const; ///< as it is now, without its mnemonic
    QList<QKeySequence> keys() const;
};

/// Every action of a window that has a name, and the keys that the user gave them. Entries stand in the order of the
/// menus, then those of panels.
class ActionRegistry : public QObject {
    Q_OBJECT
public:
    explicit ActionRegistry(QMainWindow& window);

    /// Looks for actions that came or went. What stands in a menu without a name gets one of its place.
    void collect();
    const std::vector<ActionEntry>& entries() const { return m_entries; }
    const ActionEntry* find(const QString& id) const; ///< null: there is none
    /// From now on the user's settings say which keys are not the standard ones, and are told of changes.
    void remember();

    void setKeys(const QString& id, const QList<QKeySequence>& keys);
    void reset(const QString& id);
    void resetAll();
    bool isChanged(const ActionEntry& entry) const { return entry.keys() != entry.standard; }
    /// What else the keys would do where this action is at hand: those of the same panel or of the whole window.
    std::vector<const ActionEntry*> rivals(const ActionEntry& entry, const QKeySequence& keys) const;
    /// Title of the menu of the menu bar that the keys open; empty: none.
    QString menuOpenedBy(const QKeySequence& keys) const;

signals:
    void changed(); ///< keys, or which actions there are

private:
    void collectMenu(const QMenu& menu, const QString& id, const QString& path);
    void add(QAction& action, const QString& path);
    void apply(const ActionEntry& entry, const QList<QKeySequence>& keys);
    void keep(const ActionEntry& entry) const;
    void refreshWidgets() const;

    QMainWindow& m_window;
    std::vector<ActionEntry> m_entries;
    std::map<QString, size_t> m_byId;
    std::map<QString, QList<QKeySequence>> m_standard; ///< also of what went
    std::map<QString, QList<QKeySequence>> m_chosen; ///< that are not the standard ones
    bool m_remembers = false;
};

} // namespace qs
