// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAction>
#include <QKeySequence>
#include <QList>
#include <QMenu>
#include <QString>

#include <functional>
#include <optional>
#include <utility>

class QAbstractButton;

namespace qs {

/// Gives an action the name by which the user's settings know it ("file.openFloat"). `scope`: title of the panel that
/// must have the focus for its keys; empty: they work in the whole window. Actions of one name share their keys.
void nameAction(QAction& action, const QString& id, const QString& scope = {});
QString actionId(const QAction& action); ///< empty: it has none
QString actionScope(const QAction& action);

/// Enables the action, or says in its tool tip and status tip why it cannot be used now.
void enable(QAction& action, bool on, const QString& whyNot);
void enableMenu(QMenu& menu, bool on, const QString& whyNot); ///< with all its entries
void setTip(QAction& action, const QString& tip); ///< as long as it is enabled
QString whyNot(const QAction& action); ///< empty: it can be used, or nobody said

/// "Open float…" of "Open &float…\tCtrl+O".
QString plainText(const QString& text);
/// The text as a menu shows it whole: no letter of it is a mnemonic.
QString withoutMnemonics(QString text);
/// For an entry of a menu: the text, and the keys of that action, as the user has them.
QString withKeys(const QString& text, const QAction& action);
/// The same for an action of the window of that widget; without keys where there is none.
QString withKeys(const QString& text, const QWidget* widget, const QString& id);
QString keysText(const QList<QKeySequence>& keys); ///< "Ctrl+Enter, R"

/// The entries of this menu come and go, as those of recent files do: none of them has a name.
void markAsList(QMenu& menu);
bool isList(const QMenu& menu);

/// The widget's tool tip, and the button's text, name the keys of that action as the user has them.
void setKeyTip(QWidget& widget, const QString& id, const QString& tip);
void setKeyText(QAbstractButton& button, const QString& id, const QString& text);
/// What one widget shows, where it asked for that: `keysOf` gives the keys of an action's name as text, or nullopt for
/// an action that is not known, whose keys stay shown as they are.
void showKeys(QWidget& widget, const std::function<std::optional<QString>(const QString& id)>& keysOf);

/// A new entry of a menu.
template <class Context, class Function>
QAction* addEntry(QMenu* menu, const QString& id, const QString& text, const QList<QKeySequence>& keys,
    Context* context, Function function)
{
    QAction* action = menu->addAction(text);
    nameAction(*action, id);
    action->setShortcuts(keys);
    QObject::connect(action, &QAction::triggered, context, std::move(function));
    return action;
}

} // namespace qs
