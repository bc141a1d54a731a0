// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QList>
#include <QObject>

class QAction;

namespace qs {

/// Gives each visible entry a mnemonic of its own: what is written stays where no entry above has the same letter and
/// none is left without one, the others get the first letter of a word, else any letter, that is free. There is none
/// where an entry and those that could give way have no other letters.
void giveMnemonics(const QList<QAction*>& entries);
/// The letter behind a single &, in lower case; null: none.
QChar mnemonicOf(const QString& text);

/// While it lives, in every menu of the program: entries have mnemonics as it opens, tool tips are shown, and letters
/// choose entries. Without it a letter would trigger an action of the panel that has the focus, also of the menu bar's
/// menus where the menu bar has it.
class MenuKeys : public QObject {
    Q_OBJECT
public:
    explicit MenuKeys(QObject* parent);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void menuOpens();
};

} // namespace qs
