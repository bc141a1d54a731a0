// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/views/support/fake_window.h"
#include "tests/views/support/program_set_up.h"
#include "widgets/views/actions/action_registry.h"
#include "widgets/views/actions/menu_keys.h"
#include "widgets/views/actions/named_action.h"
#include "widgets/views/actions/shortcut_dialog.h"
#include "widgets/views/base/table_panel.h"
#include "widgets/views/graph/graph_canvas.h"
#include "widgets/views/graph/graph_panel.h"
#include "widgets/views/help/help_window.h"
#include "widgets/views/palette/palette.h"
#include "widgets/views/tables/matching_panel.h"
#include "widgets/views/theme/style.h"
#include "widgets/views/window/dock_layout.h"
#include "widgets/views/window/main_window.h"
#include "widgets/views/window/panel_cycle.h"

#include <QAbstractItemModelTester>
#include <QActionGroup>
#include <QApplication>
#include <QHeaderView>
#include <QKeySequenceEdit>
#include <QLabel>
#include <QLineEdit>
#include <QMenuBar>
#include <QPushButton>
#include <QSettings>
#include <QTableView>
#include <QTemporaryDir>
#include <QTextBrowser>
#include <QTimer>
#include <QToolButton>
#include <QtTest>

using namespace qs;
using namespace qs::test;

namespace {

/// Entries of the menu and of those in it that have a mnemonic twice or none.
QStringList badMnemonics(QMenu& menu, const QString& path)
{
    emit menu.aboutToShow();
    giveMnemonics(menu.actions());
    QStringList bad;
    QSet<QChar> seen;
    QList<const QAction*> without;
    for (QAction* action : menu.actions()) {
        if (action->isSeparator() || !action->isVisible())
            continue;
        const QChar letter = mnemonicOf(action->text());
        if (letter.isNull())
            without << action;
        else if (seen.contains(letter))
            bad << path + QStringLiteral(" ▸ ") + action->text();
        seen.insert(letter);
        if (action->menu())
            bad << badMnemonics(*action->menu(), path + QStringLiteral(" ▸ ") + action->text());
    }
    for (const QAction* action : without) // a menu may have more entries than there are letters for them
        for (const QChar letter : action->text().toLower())
            if (letter.isLetter() && !seen.contains(letter)) {
                bad << path + QStringLiteral(" ▸ ") + action->text();
                break;
            }
    return bad;
}

void leaves(const QMenu& menu, QList<QAction*>* found)
{
    for (QAction* action : menu.actions()) {
        if (action->menu())
            leaves(*action->menu(), found);
        else if (!action->isSeparator() && !isList(menu))
            found->append(action);
    }
}

QMenu* openMenu() { return qobject_cast<QMenu*>(QApplication::activePopupWidget()); }

} // namespace

class TestActions : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { setUpProgram(m_folder); }

    void init() { QSettings().clear(); }

    void everyEntryHasAName()
    {
        Shown shown;
        QList<QAction*> entries;
        for (const QAction* action : shown.window.menuBar()->actions())
            leaves(*action->menu(), &entries);
        QVERIFY(entries.size() > 80);
        QMap<QString, QAction*> names;
        for (QAction* action : entries) {
            const QString id = actionId(*action);
            QVERIFY2(!id.isEmpty(), qPrintable(action->text()));
            QVERIFY2(!names.contains(id) || names[id] == action, qPrintable(id));
            names[id] = action;
            QVERIFY2(shown.actions().find(id), qPrintable(id));
        }
        for (const char* id : { "graph.fit", "graph.around", "graph.open", "matching.link", "runs.rename",
                 "inspector.copy", "go.nextPanel", "recipe.toggle", "edit.palette" })
            QVERIFY2(shown.action(id), id);
        QCOMPARE(shown.actions().find(QStringLiteral("graph.fit"))->actions.size(), size_t(2)); // both graphs
        for (const ActionEntry& entry : shown.actions().entries())
            for (const QKeySequence& key : entry.keys())
                for (const ActionEntry* rival : shown.actions().rivals(entry, key))
                    QFAIL(qPrintable(entry.id + QStringLiteral(" and ") + rival->id));
    }

    void everyMenuHasMnemonics()
    {
        Shown shown;
        QVERIFY(shown.open());
        QStringList bad;
        QSet<QChar> bar;
        for (const QAction* action : shown.window.menuBar()->actions()) {
            QVERIFY2(!bar.contains(mnemonicOf(action->text())), qPrintable(action->text()));
            bar.insert(mnemonicOf(action->text()));
            QVERIFY2(!action->menu()->actions().isEmpty(), qPrintable(action->text()));
            bad << badMnemonics(*action->menu(), action->text());
        }
        QVERIFY2(bad.isEmpty(), qPrintable(bad.join(u'\n')));
    }

    void mnemonicsAreGiven_data()
    {
        QTest::addColumn<QStringList>("texts");
        QTest::addColumn<QStringList>("wanted");
        QTest::newRow("written ones stay") << QStringList { "&Open", "E&xit" } << QStringList { "&Open", "E&xit" };
        QTest::newRow("first letters of words")
            << QStringList { "Open", "Open file" } << QStringList { "&Open", "Open &file" };
        QTest::newRow("twice the same") << QStringList { "&Open", "&Other" } << QStringList { "&Open", "O&ther" };
        QTest::newRow("another gives way") << QStringList { "ab", "bc", "a" } << QStringList { "a&b", "b&c", "&a" };
        QTest::newRow("keys are no letters of it")
            << QStringList { "&a", "A\tCtrl+B" } << QStringList { "&a", "A\tCtrl+B" };
        QTest::newRow("names with an ampersand") << QStringList { "a&&b" } << QStringList { "&a&&b" };
    }

    void mnemonicsAreGiven()
    {
        QFETCH(const QStringList, texts);
        QFETCH(const QStringList, wanted);
        QObject owner;
        QList<QAction*> actions;
        for (const QString& text : texts)
            actions << new QAction(text, &owner);
        giveMnemonics(actions);
        for (qsizetype i = 0; i < wanted.size(); ++i)
            QCOMPARE(actions[i]->text(), wanted[i]);
    }

    /// Where the menu bar has the focus, a letter was the key of an action that stands in one of its menus.
    void lettersChooseInMenus()
    {
        Shown shown;
        QVERIFY(shown.open());
        QVERIFY(shown.window.showView(QStringLiteral("matching")));
        shown.window.matching().table()->setFocus();
        shown.window.matching().table()->selectRow(0);
        QSignalSpy linked(shown.window.matching().linkAction(), &QAction::triggered);
        QTest::keyClick(&shown.window, Qt::Key_V, Qt::AltModifier);
        QTRY_VERIFY(openMenu());
        QTest::keyClick(openMenu(), Qt::Key_T);
        QMenu* themes = nullptr;
        QTRY_VERIFY((themes = openMenu()) && themes->actions().size() == 3);
        shown.window.setThemeChoice(ThemeChoice::Dark);
        QTest::keyClick(themes, Qt::Key_L);
        QTRY_VERIFY(!openMenu());
        QCOMPARE(linked.count(), 0);
        QVERIFY(!shown.session.theme().dark);
        QVERIFY(!shown.window.findChild<QDialog*>());
    }

    void contextMenusHaveMnemonicsToo()
    {
        Shown shown;
        QVERIFY(shown.open());
        GraphCanvas& canvas = shown.window.graph().canvas();
        shown.session.selection().selectActivation(3);
        QStringList bad { QStringLiteral("no menu") };
        QTimer::singleShot(50, this, [&] {
            if (QMenu* menu = openMenu()) {
                bad = badMnemonics(*menu, QStringLiteral("graph"));
                menu->close();
            }
        });
        QContextMenuEvent event(
            QContextMenuEvent::Keyboard, canvas.rect().center(), canvas.mapToGlobal(canvas.rect().center()));
        QApplication::sendEvent(&canvas, &event);
        QCOMPARE(bad, QStringList());
        bad = { QStringLiteral("no menu") };
        QTimer::singleShot(50, this, [&] {
            if (QMenu* menu = openMenu()) {
                bad = badMnemonics(*menu, QStringLiteral("tensors"));
                menu->close();
            }
        });
        emit shown.window.tensors().table()->customContextMenuRequested({ 5, 5 });
        QCOMPARE(bad, QStringList());
    }

    void choicesAreExclusive()
    {
        Shown shown;
        QVERIFY(shown.open());
        for (const char* id : { "theme.light", "theme.dark", "metric.0", "arithmetic.simulated", "layout.inspect" }) {
            QVERIFY2(shown.action(id) && shown.action(id)->actionGroup(), id);
            QVERIFY2(shown.action(id)->actionGroup()->isExclusive(), id);
            QVERIFY2(shown.action(id)->isCheckable(), id);
        }
        QVERIFY(shown.action("arithmetic.simulated")->isChecked());
        shown.action("layout.compare")->trigger();
        QVERIFY(shown.action("layout.compare")->isChecked() && !shown.action("layout.inspect")->isChecked());
        shown.action("layout.compare")->trigger(); // again: still that one
        QVERIFY(shown.action("layout.compare")->isChecked());
    }

    /// The dot of a choice has another shape than the mark of a switch.
    void choicesAreDrawnAsDots()
    {
        const auto picture = [](bool exclusive) {
            QMenu menu;
            auto* group = new QActionGroup(&menu);
            QAction* action = menu.addAction(QStringLiteral("x"));
            action->setCheckable(true);
            action->setChecked(true);
            if (exclusive)
                group->addAction(action);
            menu.ensurePolished();
            menu.resize(menu.sizeHint());
            return menu.grab().toImage();
        };
        QCOMPARE(picture(true), picture(true));
        QVERIFY(picture(true) != picture(false));
    }

    void disabledEntriesSayWhy()
    {
        Shown shown;
        int told = 0;
        for (const ActionEntry& entry : shown.actions().entries())
            if (const QAction* action = entry.action(); !action->isEnabled() && !whyNot(*action).isEmpty()) {
                QCOMPARE(action->toolTip(), whyNot(*action));
                ++told;
            }
        QVERIFY(told > 20);
        QVERIFY(!whyNot(*shown.action("file.report")).isEmpty());
        QVERIFY(shown.open());
        QVERIFY(shown.action("file.report")->isEnabled() && whyNot(*shown.action("file.report")).isEmpty());
        QVERIFY(!shown.action("file.report")->toolTip().contains(QStringLiteral("compared")));
    }

    void keysOfTheGraphWorkThereOnly()
    {
        Shown shown;
        QVERIFY(shown.open());
        QSignalSpy fits(shown.action("graph.fit"), &QAction::triggered);
        shown.window.graph().canvas().setFocus();
        QTest::keyClick(&shown.window.graph().canvas(), Qt::Key_Space);
        QCOMPARE(fits.count(), 1);
        shown.window.tensors().table()->setFocus();
        QTest::keyClick(shown.window.tensors().table(), Qt::Key_Space);
        QCOMPARE(fits.count(), 1);
        shown.window.graph().openSearch();
        auto* edit = shown.window.graph().findChild<QLineEdit*>();
        QTRY_VERIFY(edit->hasFocus());
        QTest::keyClicks(edit, QStringLiteral("n /f"));
        QCOMPARE(edit->text(), QStringLiteral("n /f"));
        QCOMPARE(fits.count(), 1);
    }

    void otherKeysHoldAtOnceAndNextTime()
    {
        {
            Shown shown(WindowMemory::Remembered);
            QVERIFY(shown.open());
            shown.actions().setKeys(QStringLiteral("graph.fit"), { QKeySequence(QStringLiteral("Ctrl+Alt+F")) });
            shown.actions().setKeys(QStringLiteral("file.reload"), {});
            shown.actions().setKeys(QStringLiteral("edit.undo"), { QKeySequence(QStringLiteral("Ctrl+U")) });
            shown.actions().reset(QStringLiteral("edit.undo"));
        }
        Shown shown(WindowMemory::Remembered);
        QVERIFY(shown.open());
        QCOMPARE(shown.action("edit.undo")->shortcut(), QKeySequence(QKeySequence::Undo));
        QVERIFY(shown.action("file.reload")->shortcuts().isEmpty());
        QSignalSpy fits(shown.action("graph.fit"), &QAction::triggered);
        shown.window.graph().canvas().setFocus();
        QTest::keyClick(&shown.window.graph().canvas(), Qt::Key_Space);
        QCOMPARE(fits.count(), 0);
        QTest::keyClick(&shown.window.graph().canvas(), Qt::Key_F, Qt::ControlModifier | Qt::AltModifier);
        QCOMPARE(fits.count(), 1);
        for (const auto* panel : shown.window.findChildren<GraphPanel*>()) { // what names the keys follows
            const auto buttons = panel->header()->findChildren<QToolButton*>();
            QVERIFY(std::ranges::any_of(
                buttons, [](const QToolButton* b) { return b->toolTip().contains(QStringLiteral("(Ctrl+Alt+F)")); }));
        }
        const HelpWindow* help = showHelp(&shown.window, { QStringLiteral("shortcuts"), {} });
        QVERIFY(help->text()->toPlainText().contains(QStringLiteral("Ctrl+Alt+F")));
        shown.actions().setKeys(QStringLiteral("graph.fit"), { QKeySequence(Qt::Key_F9) });
        showHelp(&shown.window, { QStringLiteral("shortcuts"), {} });
        QVERIFY(help->text()->toPlainText().contains(QStringLiteral("F9")));
        shown.actions().resetAll();
        const QStringList kept = QSettings().allKeys().filter(QStringLiteral("shortcuts/"));
        QVERIFY2(kept.isEmpty(), qPrintable(kept.join(u' ')));
    }

    void theEditorChangesKeys()
    {
        Shown shown;
        QVERIFY(shown.open());
        shown.action("edit.shortcuts")->trigger();
        auto* dialog = shown.window.findChild<ShortcutDialog*>();
        QVERIFY(dialog && QTest::qWaitForWindowExposed(dialog));
        QAbstractItemModelTester tester(
            dialog->table()->model(), QAbstractItemModelTester::FailureReportingMode::QtTest);
        QTest::keyClicks(dialog->filter(), QStringLiteral("export report"));
        QCOMPARE(dialog->table()->model()->rowCount(), 1);
        dialog->filter()->clear();
        dialog->filterKeys()->setKeySequence(QKeySequence(QStringLiteral("Ctrl+E")));
        QCOMPARE(dialog->table()->model()->rowCount(), 1);
        dialog->filterKeys()->clear();
        QVERIFY(dialog->choose(QStringLiteral("file.former")));
        dialog->keys()->setFocus();
        QTest::keyClick(dialog->keys(), Qt::Key_E, Qt::ControlModifier);
        QCOMPARE(dialog->keys()->keySequence(), QKeySequence(QStringLiteral("Ctrl+E")));
        QTRY_VERIFY(dialog->note()->text().contains(QStringLiteral("Export report"))); // it waits for more keys
        QTest::mouseClick(dialog->button("use"), Qt::LeftButton);
        QCOMPARE(shown.action("file.former")->shortcut(), QKeySequence(QStringLiteral("Ctrl+E")));
        QVERIFY(shown.action("file.report")->shortcuts().isEmpty()); // it was taken from there
        QVERIFY(dialog->table()->hasFocus()); // and not "Reset all", which a further key would press
        QTest::mouseClick(dialog->button("reset"), Qt::LeftButton);
        QCOMPARE(shown.action("file.former")->shortcut(), QKeySequence(QStringLiteral("Ctrl+Shift+T")));
        dialog->keys()->setKeySequence(QKeySequence(QStringLiteral("Alt+V")));
        QVERIFY(dialog->note()->text().contains(QStringLiteral("View")) && !dialog->button("use")->isEnabled());
        dialog->keys()->setKeySequence(QKeySequence(QStringLiteral("Ctrl+F9")));
        QTest::mouseClick(dialog->button("add"), Qt::LeftButton);
        QCOMPARE(shown.action("file.former")->shortcuts().size(), 2);
        QTest::mouseClick(dialog->button("resetAll"), Qt::LeftButton);
        QCOMPARE(shown.action("file.report")->shortcut(), QKeySequence(QStringLiteral("Ctrl+E")));
        for (const ActionEntry& entry : shown.actions().entries())
            QVERIFY2(!shown.actions().isChanged(entry), qPrintable(entry.id));
    }

    /// The keys below are of an action that the filter shows; Tab goes from them to what is done with them.
    void theEditorGoesByKeyboard()
    {
        Shown shown;
        QVERIFY(shown.open());
        shown.action("edit.shortcuts")->trigger();
        auto* dialog = shown.window.findChild<ShortcutDialog*>();
        QVERIFY(dialog && QTest::qWaitForWindowExposed(dialog));
        QTest::keyClicks(dialog->filter(), QStringLiteral("export report"));
        QCOMPARE(dialog->table()->currentIndex().row(), 0);
        dialog->filter()->setText(QStringLiteral("no such action"));
        QVERIFY(!dialog->table()->currentIndex().isValid() && !dialog->button("remove")->isEnabled());
        dialog->filter()->clear();
        QVERIFY(dialog->table()->currentIndex().isValid());
        dialog->keys()->setKeySequence(QKeySequence(QStringLiteral("Ctrl+F9")));
        const QWidget* next = dialog->keys()->nextInFocusChain();
        while (dialog->keys()->isAncestorOf(next) || (next->focusPolicy() & Qt::TabFocus) == 0)
            next = next->nextInFocusChain();
        QCOMPARE(next, dialog->button("use"));
        dialog->keys()->clear();
        const QPointer<ShortcutDialog> open(dialog);
        dialog->keys()->setFocus();
        QTest::keyClick(dialog->keys(), Qt::Key_Escape);
        QTRY_VERIFY(!open || !open->isVisible());
    }

    /// Keys of two panels may be the same, since only one of them has the focus.
    void conflictsKnowThePanel()
    {
        Shown shown;
        const auto rivals = [&](const char* id, const char* keys) {
            QStringList ids;
            for (const ActionEntry* rival : shown.actions().rivals(
                     *shown.actions().find(QString::fromLatin1(id)), QKeySequence(QString::fromLatin1(keys))))
                ids << rival->id;
            return ids;
        };
        QCOMPARE(rivals("graph.fit", "Del"), QStringList()); // of two other panels
        QCOMPARE(rivals("matching.link", "Del"), QStringList { "matching.unlink" });
        QCOMPARE(rivals("matching.link", "E"), QStringList { "recipe.toggle" });
        QCOMPARE(rivals("recipe.toggle", "L"), QStringList { "matching.link" });
        QCOMPARE(rivals("file.quit", "Ctrl+O, Ctrl+P"), QStringList { "file.openFloat" }); // begins with its keys
    }

    void keysGoRoundThePanels()
    {
        Shown shown;
        QVERIFY(shown.open());
        shown.window.graph().canvas().setFocus();
        QSet<QString> reached;
        for (int step = 0; step < 30; ++step) {
            QTest::keyClick(&shown.window, Qt::Key_F6);
            const Panel* panel = PanelCycle::panelOf(QApplication::focusWidget());
            QVERIFY(panel && panel->lookedAt());
            QVERIFY(panel->header()->property("current").toBool());
            reached.insert(panel->objectName());
        }
        QStringList missing;
        for (Panel* panel : shown.window.findChildren<Panel*>())
            if (panel->lookedAt() && !reached.contains(panel->objectName()))
                missing << panel->objectName();
        QCOMPARE(missing, QStringList());
        QVERIFY(reached.size() >= 5);
        const Panel* last = PanelCycle::panelOf(QApplication::focusWidget());
        QTest::keyClick(&shown.window, Qt::Key_F6);
        QTest::keyClick(&shown.window, Qt::Key_F6, Qt::ShiftModifier);
        QCOMPARE(PanelCycle::panelOf(QApplication::focusWidget()), last);
    }

private:
    QTemporaryDir m_folder;
};

QTEST_MAIN(TestActions)
#include "test_actions.moc"
