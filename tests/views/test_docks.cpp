// SPDX-License-Identifier: GPL-3.0-or-later
// Panels as docks: their titles, floating, pinning, and layouts with names.
#include "tests/views/support/example_window.h"
#include "tests/views/support/program_set_up.h"
#include "widgets/session/details/shown_place.h"
#include "widgets/session/files/open_files.h"
#include "widgets/views/base/panel.h"
#include "widgets/views/theme/style.h"
#include "widgets/views/window/dock_layout.h"
#include "widgets/views/window/docks/dock_title.h"
#include "widgets/views/window/docks/floating_frame.h"
#include "widgets/views/window/docks/layouts_dialog.h"
#include "widgets/views/window/docks/sign_button.h"
#include "widgets/views/window/named_layouts.h"

#include <QAction>
#include <QDockWidget>
#include <QInputDialog>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QMenuBar>
#include <QMessageBox>
#include <QSettings>
#include <QTabBar>
#include <QTemporaryDir>
#include <QtTest>

using namespace qs;
using namespace qs::test;

namespace {

struct Docks : ExampleWindow {
    using ExampleWindow::ExampleWindow;
    DockLayout& layout() { return window.layoutOfPanels(); }
    NamedLayouts& layouts() { return window.namedLayouts(); }
    QDockWidget& dock(const char* name)
    {
        return *window.findChild<QDockWidget*>(QStringLiteral("dock-") + QLatin1String(name));
    }
    Panel& panel(const char* name) { return *static_cast<Panel*>(dock(name).widget()); }
    SignButton* button(const char* name, const QString& tip)
    {
        for (SignButton* button : dock(name).titleBarWidget()->findChildren<SignButton*>())
            if (button->toolTip().contains(tip))
                return button;
        return nullptr;
    }
    QList<QTabBar*> bars()
    {
        QList<QTabBar*> shown;
        for (QTabBar* bar : window.findChildren<QTabBar*>(Qt::FindDirectChildrenOnly))
            if (bar->isVisible() && bar->count() > 1)
                shown << bar;
        return shown;
    }
    /// The bar and the number of the tab of a panel.
    std::pair<QTabBar*, int> tabOf(const QString& title)
    {
        for (QTabBar* bar : bars())
            for (int tab = 0; tab < bar->count(); ++tab)
                if (bar->tabText(tab).remove(u'&') == title)
                    return { bar, tab };
        return { nullptr, -1 };
    }
    void press(const char* name, const QString& tip)
    {
        window.layoutOfPanels().raise(QLatin1String(name));
        SignButton* found = button(name, tip);
        QVERIFY(found);
        QTest::mouseClick(found, Qt::LeftButton);
    }
    QMenu* layoutMenu()
    {
        for (QAction* action : window.menuBar()->actions())
            if (action->text().remove(u'&') == QLatin1String("Layout"))
                return action->menu();
        for (QMenu* menu : window.findChildren<QMenu*>())
            if (menu->title().remove(u'&') == QLatin1String("Layout"))
                return menu;
        return nullptr;
    }
    QAction* layoutAction(const QString& text)
    {
        for (QAction* action : layoutMenu()->actions())
            if (action->text().remove(u'&') == text)
                return action;
        return nullptr;
    }
    /// Selects the nth compared tensor that has a histogram of its own.
    std::string select(size_t nth)
    {
        for (size_t row = 0; row < session.comparison()->activations.size(); ++row) {
            const ActivationRow& at = session.comparison()->activations[row];
            if (at.quantizer && at.params.perTensor() && !at.node.empty() && nth-- == 0) {
                session.selection().selectActivation(row);
                return at.name;
            }
        }
        return {};
    }
};

/// What a panel shows, as text: its header and its content.
QString contentOf(Panel& panel)
{
    QString text;
    for (const QLabel* label : panel.header()->findChildren<QLabel*>(QStringLiteral("panelInfo")))
        text += label->text() + u'|';
    for (QWidget* child : panel.findChildren<QWidget*>())
        if (!child->accessibleDescription().isEmpty())
            text += child->accessibleDescription() + u'|';
    return text;
}

QList<bool> openPanels(const DockLayout& layout)
{
    QList<bool> open;
    for (const QAction* action : layout.toggleActions())
        open << action->isChecked();
    return open;
}

} // namespace

class TestDocks : public QObject {
    Q_OBJECT
private slots:
    void initTestCase()
    {
        QVERIFY(m_settings.isValid());
        setUpProgram(m_settings);
    }

    /// However often the start page takes the place of the panels.
    void panelsComeBack()
    {
        Docks d;
        QVERIFY(d.ready());
        for (int i = 0; i < 8; ++i)
            for (const LayoutName name : kLayoutNames) {
                d.layout().apply(name);
                const QList<bool> open = openPanels(d.layout());
                QVERIFY(open.contains(true));
                d.layout().hideAll();
                QCoreApplication::processEvents();
                QVERIFY(!openPanels(d.layout()).contains(true));
                d.layout().showAgain();
                QCoreApplication::processEvents();
                QCOMPARE(openPanels(d.layout()), open);
            }
    }

    /// The entry of the menu View ▸ Panels closes only what is in sight.
    void askingForAPanelBringsItForward()
    {
        Docks d;
        QVERIFY(d.ready());
        QDockWidget& outputs = d.dock("outputs");
        const auto inFront = [&outputs] { return !outputs.visibleRegion().isEmpty(); };
        for (const bool closed : { false, true }) {
            d.layout().apply(LayoutName::Inspect);
            d.layout().raise(QStringLiteral("outputs"));
            QDockWidget* other = nullptr;
            for (QDockWidget* at : d.window.tabifiedDockWidgets(&outputs))
                if (!at->isHidden())
                    other = at;
            QVERIFY(other);
            d.layout().raise(other->widget()->objectName());
            if (closed)
                outputs.close();
            QTRY_VERIFY(!inFront());
            outputs.toggleViewAction()->trigger();
            QTRY_VERIFY(inFront());
            QVERIFY(outputs.toggleViewAction()->isChecked());
        }
        outputs.toggleViewAction()->trigger();
        QVERIFY(outputs.isHidden());
        QVERIFY(!outputs.toggleViewAction()->isChecked());
    }

    void allTabsCanBeRead_data()
    {
        QTest::addColumn<int>("layout");
        QTest::addColumn<QSize>("size");
        for (const LayoutName name : kLayoutNames)
            for (const QSize size : { QSize(1280, 800), QSize(1920, 1080) })
                QTest::addRow("%s %d", qPrintable(layoutTitle(name)), size.width()) << int(name) << size;
    }
    void allTabsCanBeRead()
    {
        QFETCH(int, layout);
        QFETCH(QSize, size);
        Docks d;
        d.window.resize(size);
        QVERIFY(d.ready());
        d.layout().apply(LayoutName(layout));
        QVERIFY(!d.bars().isEmpty());
        for (QTabBar* bar : d.bars()) {
            QCOMPARE(bar->elideMode(), Qt::ElideNone);
            QVERIFY(!bar->accessibleName().isEmpty());
            QTRY_VERIFY2(bar->tabRect(bar->count() - 1).right() < bar->width(),
                qPrintable(QStringLiteral("%1 of %2 pixels: %3 tabs")
                               .arg(bar->tabRect(bar->count() - 1).right())
                               .arg(bar->width())
                               .arg(bar->count())));
        }
    }

    void titleButtonsCloseAndFloat()
    {
        Docks d;
        QVERIFY(d.ready());
        QDockWidget& dock = d.dock("matching");
        d.press("matching", QStringLiteral("Close"));
        QVERIFY(dock.isHidden());
        QVERIFY(!dock.toggleViewAction()->isChecked());
        dock.toggleViewAction()->trigger();
        QVERIFY(!dock.isHidden());
        QVERIFY(d.window.tabifiedDockWidgets(&dock).contains(&d.dock("tensors"))); // where it was
        d.press("matching", QStringLiteral("window of its own"));
        QVERIFY(dock.isFloating());
        QVERIFY(d.button("matching", QStringLiteral("back into the window")));
        d.press("matching", QStringLiteral("back into the window"));
        QVERIFY(!dock.isFloating());
        QVERIFY(d.window.tabifiedDockWidgets(&dock).contains(&d.dock("tensors")));
        for (const SignButton* button : dock.titleBarWidget()->findChildren<SignButton*>()) {
            QVERIFY(!button->accessibleName().isEmpty());
            QVERIFY(button->focusPolicy() & Qt::TabFocus);
        }
    }

    void floatingPanelsHaveAFrame()
    {
        Docks d;
        QVERIFY(d.ready());
        QDockWidget& dock = d.dock("inspector");
        const QSize before = dock.size();
        d.press("inspector", QStringLiteral("window of its own"));
        QTRY_VERIFY(!(dock.windowFlags() & Qt::FramelessWindowHint));
        QVERIFY(dock.windowFlags() & Qt::WindowCloseButtonHint);
        QVERIFY(dock.windowFlags() & Qt::WindowMinMaxButtonsHint);
        QCOMPARE(dock.windowType(), Qt::Tool); // stays above the main window
        QVERIFY(dock.isVisible());
        QVERIFY(dock.width() >= before.width() / 2);
        QCOMPARE(dock.windowTitle(), QStringLiteral("Inspector"));
        dock.move(-5000, -5000);
        dock.hide();
        dock.show();
        QTRY_VERIFY(dock.screen()->availableGeometry().contains(dock.geometry().topLeft()));
        dock.close();
        QVERIFY(!dock.toggleViewAction()->isChecked());
        dock.toggleViewAction()->trigger();
        QVERIFY(dock.isVisible());
        QVERIFY(dock.isFloating());
        dock.setFloating(false);
        QTRY_VERIFY(!dock.isWindow());
        QVERIFY(dock.isVisible());
    }

    void windowsArePulledOntoAScreen_data()
    {
        QTest::addColumn<QRect>("window");
        QTest::addColumn<QRect>("placed");
        const QRect inside(100, 100, 400, 300);
        QTest::newRow("inside") << inside << inside;
        QTest::newRow("second screen") << inside.translated(1920, 0) << inside.translated(1920, 0);
        QTest::newRow("a part is left out") << QRect(-200, 100, 400, 300) << QRect(-200, 100, 400, 300);
        QTest::newRow("title above") << QRect(100, -40, 400, 300) << QRect(100, 0, 400, 300);
        QTest::newRow("far right") << QRect(9000, 100, 400, 300) << QRect(1520, 100, 400, 300);
        QTest::newRow("far below") << QRect(100, 5000, 400, 300) << QRect(100, 780, 400, 300);
        QTest::newRow("too large") << QRect(0, 0, 4000, 3000) << QRect(0, 0, 1920, 1080);
    }
    void windowsArePulledOntoAScreen()
    {
        QFETCH(QRect, window);
        QFETCH(QRect, placed);
        QCOMPARE(onAScreen(window, { QRect(0, 0, 1920, 1080), QRect(1920, 0, 1280, 1024) }), placed);
    }

    void tabsFloatAndOfferAMenu()
    {
        Docks d;
        QVERIFY(d.ready());
        const auto [bar, tab] = d.tabOf(QStringLiteral("Matching"));
        QVERIFY(bar);
        QMenu menu;
        d.layout().fillMenu(menu, &d.dock("matching"));
        QStringList texts;
        for (const QAction* action : menu.actions())
            texts << action->text().remove(u'&');
        QCOMPARE(texts, QStringList({ "Float", "Close", "Close the others here" }));
        menu.actions().back()->trigger();
        QVERIFY(!d.dock("matching").isHidden());
        QVERIFY(d.dock("tensors").isHidden());
        QVERIFY(!d.dock("layer-chart").isHidden());
        d.layout().apply(LayoutName::Inspect);
        const auto [again, at] = d.tabOf(QStringLiteral("Matching"));
        QVERIFY(again);
        QTest::mouseDClick(again, Qt::LeftButton, {}, again->tabRect(at).center());
        QTRY_VERIFY(d.dock("matching").isFloating());
    }

    void pinnedPanelsKeepWhatTheyShow_data()
    {
        QTest::addColumn<QString>("name");
        for (const char* name : { "inspector", "distribution", "channels", "error-map", "weight-lab", "values" })
            QTest::newRow(name) << QString::fromLatin1(name);
    }
    void pinnedPanelsKeepWhatTheyShow()
    {
        QFETCH(QString, name);
        Docks d;
        QVERIFY(d.ready());
        const QByteArray key = name.toLatin1();
        Panel& panel = d.panel(key);
        const std::string first = d.select(0);
        QVERIFY(!first.empty());
        d.layout().raise(name);
        QTRY_VERIFY_WITH_TIMEOUT(d.session.jobs().idle(), kPatience);
        d.press(key, QStringLiteral("Keep"));
        QVERIFY(panel.shownPlace()->pinned());
        QTRY_VERIFY_WITH_TIMEOUT(d.session.jobs().idle(), kPatience);
        const QString shown = contentOf(panel);
        const QString title = d.dock(key).windowTitle();
        QVERIFY2(title.contains(QStringLiteral("(pinned)")), qPrintable(title));
        QVERIFY2(title.contains(panel.shownPlace()->name().right(8)), qPrintable(title));
        QCOMPARE(panel.shownPlace()->name().toStdString(), first);

        QVERIFY(d.select(2) != first);
        QTRY_VERIFY_WITH_TIMEOUT(d.session.jobs().idle(), kPatience);
        QCOMPARE(panel.shownPlace()->name().toStdString(), first);
        QCOMPARE(contentOf(panel), shown);
        d.session.reload(); // the same names in a new snapshot
        QVERIFY(d.ready());
        QCOMPARE(panel.shownPlace()->name().toStdString(), first);
        QTRY_COMPARE_WITH_TIMEOUT(contentOf(panel), shown, kPatience);

        d.press(key, QStringLiteral("Follow"));
        QVERIFY(!panel.shownPlace()->pinned());
        QCOMPARE(panel.shownPlace()->current(), d.session.selection().current());
        QTRY_VERIFY_WITH_TIMEOUT(contentOf(panel) != shown, kPatience);
        QVERIFY(!d.dock(key).windowTitle().contains(QStringLiteral("pinned")));
    }

    void whatIsGoneIsNotPinned()
    {
        Docks d;
        QVERIFY(d.ready());
        Panel& panel = d.panel("distribution");
        QVERIFY(!d.select(0).empty());
        panel.shownPlace()->setPinned(true);
        QVERIFY(panel.shownPlace()->pinned());
        d.session.openInputs({});
        QTRY_VERIFY(!d.session.comparison());
        QVERIFY(!panel.shownPlace()->pinned());
        panel.shownPlace()->setPinned(true); // nothing is selected
        QVERIFY(!panel.shownPlace()->pinned());
    }

    void anotherPanelIsPinnedToAnotherTensor()
    {
        Docks d;
        QVERIFY(d.ready());
        const std::string first = d.select(0);
        QMenu menu;
        d.layout().fillMenu(menu, &d.dock("distribution"));
        menu.actions().back()->trigger();
        auto* second = d.window.findChild<QDockWidget*>(QStringLiteral("dock-distribution:2"));
        QVERIFY(second);
        QVERIFY(second->isFloating());
        const auto* panel = static_cast<Panel*>(second->widget());
        QVERIFY(panel->shownPlace()->pinned());
        const std::string next = d.select(1);
        QVERIFY(first != next);
        QCOMPARE(panel->shownPlace()->name().toStdString(), first);
        QCOMPARE(d.panel("distribution").shownPlace()->name().toStdString(), next);
        QVERIFY(d.layout().openAnother(QStringLiteral("distribution:2")));
        QVERIFY(!d.layout().openAnother(QStringLiteral("tensors")));
        QVERIFY(!d.layout().openAnother(QStringLiteral("no such panel")));
        const QPointer<QDockWidget> third = d.window.findChild<QDockWidget*>(QStringLiteral("dock-distribution:3"));
        QVERIFY(third);
        third->close();
        QTRY_VERIFY(!third);
        QVERIFY(d.layouts().save(QStringLiteral("With two")));
        d.layout().apply(LayoutName::Inspect); // the others belong to no layout
        QVERIFY(!d.window.findChild<QDockWidget*>(QStringLiteral("dock-distribution:2")));
        QVERIFY(d.layouts().show(QStringLiteral("With two"))); // as far as it goes
        QVERIFY(!d.dock("distribution").isHidden());
        QVERIFY(!d.dock("distribution").isFloating());
    }

    void ownLayoutsComeBackAsTheyWere()
    {
        Docks d;
        QVERIFY(d.ready());
        d.dock("findings").close();
        d.layout().raise(QStringLiteral("outputs"));
        d.dock("inspector").setFloating(true);
        QTRY_VERIFY(!(d.dock("inspector").windowFlags() & Qt::FramelessWindowHint));
        d.dock("inspector").setGeometry(120, 130, 410, 320);
        d.window.resizeDocks({ &d.dock("layer-chart") }, { 260 }, Qt::Vertical);
        QTRY_COMPARE(d.dock("layer-chart").height(), 260);
        QVERIFY(d.layouts().save(QStringLiteral("  Mine & yours ")));
        QCOMPARE(d.layouts().current(), QStringLiteral("Mine & yours"));

        d.layout().apply(LayoutName::Teach);
        QVERIFY(!d.dock("inspector").isFloating());
        QVERIFY(!d.dock("findings").isHidden());
        QTRY_VERIFY(d.layoutAction(QStringLiteral("Reset Teach")));
        QTRY_VERIFY(d.layoutAction(QStringLiteral("Mine  yours")));
        d.layoutAction(QStringLiteral("Mine  yours"))->trigger(); // && without its mnemonic
        QVERIFY(d.dock("findings").isHidden());
        QVERIFY(d.dock("inspector").isFloating());
        QTRY_VERIFY(!(d.dock("inspector").windowFlags() & Qt::FramelessWindowHint));
        QTRY_COMPARE(d.dock("inspector").size(), QSize(410, 320));
        QTRY_COMPARE(d.dock("layer-chart").height(), 260);
        QTRY_VERIFY(d.panel("outputs").lookedAt());
        QTRY_VERIFY(d.layoutAction(QStringLiteral("Mine  yours"))->isChecked());

        d.dock("outputs").close();
        d.layouts().reset();
        QVERIFY(!d.dock("outputs").isHidden());
        QTRY_VERIFY(d.layoutAction(QStringLiteral("Back to the arrangement before")));
        QTRY_VERIFY(d.layoutAction(QStringLiteral("Back to the arrangement before"))->isEnabled());
        d.layoutAction(QStringLiteral("Back to the arrangement before"))->trigger(); // one's own closing comes back
        QVERIFY(d.dock("outputs").isHidden());
        QCOMPARE(d.layouts().current(), QStringLiteral("Mine & yours"));
        d.layouts().goBack();
        QVERIFY(!d.dock("outputs").isHidden());
    }

    void layoutsOfOthersAreTakenAsFarAsTheyGo()
    {
        Docks d;
        QVERIFY(d.ready());
        QMainWindow larger;
        larger.resize(3800, 2100);
        for (const char* name : { "dock-tensors", "dock-nobody-knows" }) {
            auto* dock = new QDockWidget(&larger);
            dock->setObjectName(QLatin1String(name));
            larger.addDockWidget(Qt::LeftDockWidgetArea, dock);
        }
        const auto kept = KeptLayouts { { QStringLiteral("Other"), larger.saveState(5) },
            { QStringLiteral("Broken"), QByteArrayLiteral("no state") } };
        d.layouts().replaceAll(kept);
        QVERIFY(d.layouts().show(QStringLiteral("other")));
        QVERIFY(!d.dock("tensors").isHidden());
        QCOMPARE(d.window.dockWidgetArea(&d.dock("tensors")), Qt::LeftDockWidgetArea);
        QVERIFY(d.dock("weights").isHidden());
        d.dock("weights").toggleViewAction()->trigger();
        QVERIFY(!d.dock("weights").isHidden());
        QVERIFY(!d.dock("weights").isFloating());
        QVERIFY(d.layouts().show(QStringLiteral("Broken"))); // nothing changes
        QVERIFY(!d.dock("tensors").isHidden());
        QVERIFY(!d.layouts().show(QStringLiteral("None")));
    }

    void namesAreChecked_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("problem");
        QTest::newRow("plain") << QStringLiteral("Mine") << QString();
        QTest::newRow("with signs") << QStringLiteral("a/b [c] \\ ü") << QString();
        QTest::newRow("empty") << QStringLiteral("  ") << QStringLiteral("needs a name");
        QTest::newRow("long") << QString(61, u'x') << QStringLiteral("60 characters");
        QTest::newRow("the program's") << QStringLiteral("what-IF") << QStringLiteral("“What-if” already");
    }
    void namesAreChecked()
    {
        QFETCH(QString, name);
        QFETCH(QString, problem);
        QCOMPARE(layoutNameProblem(name).isEmpty(), problem.isEmpty());
        QVERIFY2(layoutNameProblem(name).contains(problem), qPrintable(layoutNameProblem(name)));
        const KeptLayouts one { { name, QByteArrayLiteral("x") } };
        writeKeptLayouts(one);
        QCOMPARE(readKeptLayouts(), problem.isEmpty() ? one : KeptLayouts());
        writeKeptLayouts({});
    }

    void savingAsksForANameAndBeforeItReplaces()
    {
        Docks d;
        QVERIFY(d.ready());
        const auto saveAs = [&](const QString& name) {
            d.layoutAction(QStringLiteral("Save layout as…"))->trigger();
            auto* ask = d.window.findChild<QInputDialog*>(QStringLiteral("layoutName"));
            QVERIFY(ask);
            auto* field = ask->findChild<QLineEdit*>();
            field->selectAll();
            QTest::keyClicks(field, name);
            QTest::keyClick(field, Qt::Key_Return);
            QTRY_VERIFY(!d.window.findChild<QInputDialog*>(QStringLiteral("layoutName")));
        };
        saveAs(QStringLiteral("First"));
        QCOMPARE(d.layouts().kept().size(), size_t(1));
        const KeptLayouts before = d.layouts().kept();
        d.dock("findings").close();
        saveAs(QStringLiteral("first"));
        auto* question = d.window.findChild<QMessageBox*>(QStringLiteral("replaceLayout"));
        QVERIFY(question);
        QCOMPARE(d.layouts().kept(), before);
        for (QAbstractButton* button : question->buttons())
            if (question->buttonRole(button) == QMessageBox::AcceptRole)
                QTest::mouseClick(button, Qt::LeftButton);
        QCOMPARE(d.layouts().kept().size(), size_t(1));
        QVERIFY(d.layouts().kept()[0].docks != before[0].docks);
    }

    void layoutsAreRenamedOrderedAndDeleted()
    {
        LayoutsDialog dialog({ { "One", "1" }, { "Two", "2" }, { "Three", "3" } }, nullptr);
        dialog.show();
        auto* list = dialog.findChild<QListWidget*>();
        const auto press = [&](const QString& text) {
            for (QPushButton* button : dialog.findChildren<QPushButton*>())
                if (button->text().remove(u'&') == text)
                    QTest::mouseClick(button, Qt::LeftButton);
        };
        const auto type = [&](const QString& name) {
            press(QStringLiteral("Rename"));
            QPointer<QLineEdit> editor; // the one before may still be on its way out
            for (QLineEdit* field : list->findChildren<QLineEdit*>())
                if (field->isVisible())
                    editor = field;
            QVERIFY(editor);
            editor->selectAll();
            QTest::keyClicks(editor, name);
            QTest::keyClick(editor, Qt::Key_Return);
            QTRY_VERIFY(!editor || !editor->isVisible());
        };
        type(QStringLiteral("Uno"));
        press(QStringLiteral("Move down"));
        list->setCurrentRow(2);
        type(QStringLiteral("two")); // is there
        QVERIFY(
            dialog.findChild<QLabel*>(QStringLiteral("formWrong"))->text().contains(QStringLiteral("“Two” already")));
        QCOMPARE(dialog.layouts(), KeptLayouts({ { "Two", "2" }, { "Uno", "1" }, { "Three", "3" } }));
        list->setFocus();
        QTest::keyClick(list, Qt::Key_Delete);
        QCOMPARE(dialog.layouts(), KeptLayouts({ { "Two", "2" }, { "Uno", "1" } }));
        QCOMPARE(dialog.nameNow(QStringLiteral("One")), QStringLiteral("Uno"));
        QVERIFY(dialog.nameNow(QStringLiteral("Three")).isEmpty());
    }

    void layoutsOutliveTheWindow()
    {
        {
            Session session { realBuild() };
            MainWindow window { session, ThemeChoice::Light, WindowMemory::Remembered };
            window.show();
            session.openInputs(bundledExample());
            QTRY_VERIFY_WITH_TIMEOUT(session.jobs().idle() && session.comparison(), kPatience);
            QVERIFY(window.namedLayouts().save(QStringLiteral("Kept")));
            session.forgetUnsaved();
        }
        Session session { realBuild() };
        MainWindow window { session, ThemeChoice::Light, WindowMemory::Remembered };
        QCOMPARE(window.namedLayouts().kept().size(), size_t(1));
        QCOMPARE(window.namedLayouts().kept()[0].name, QStringLiteral("Kept"));
        QCOMPARE(window.namedLayouts().current(), QStringLiteral("Kept"));
        Docks fresh; // which neither reads nor writes them
        QVERIFY(fresh.layouts().kept().empty());
    }

private:
    QTemporaryDir m_settings;
};

QTEST_MAIN(TestDocks)
#include "test_docks.moc"
