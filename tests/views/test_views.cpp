// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/fake_snapshot.h"
#include "tests/views/support/fake_window.h"
#include "tests/views/support/program_set_up.h"
#include "widgets/models/tables/tensor_model.h"
#include "widgets/views/base/error_bar.h"
#include "widgets/views/base/table_panel.h"
#include "widgets/views/detail/inspector_panel.h"
#include "widgets/views/findings/findings_panel.h"
#include "widgets/views/header/header_strip.h"
#include "widgets/views/theme/restyling.h"
#include "widgets/views/theme/style.h"
#include "widgets/views/window/drop_hint.h"
#include "widgets/views/window/main_window.h"
#include "widgets/views/window/screenshot.h"
#include "widgets/views/window/start_page.h"

#include <QApplication>
#include <QClipboard>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QFile>
#include <QHeaderView>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QMimeData>
#include <QPushButton>
#include <QScrollBar>
#include <QSettings>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QThread>
#include <QUrl>

#include <atomic>
#include <map>

using namespace qs;
using namespace qs::test;

namespace {

Inputs somePair(const std::string& quantized = "/models/micro_kws/qdq.onnx")
{
    Inputs inputs;
    inputs.floatPath = "/models/micro_kws/float.onnx";
    inputs.quantPath = quantized;
    inputs.data.spec = "/models/micro_kws/samples.npz";
    return inputs;
}

[[nodiscard]] bool openAndWait(Session& session, const Inputs& inputs)
{
    QSignalSpy settled(&session, &Session::settled);
    session.openInputs(inputs);
    return settled.wait() && QTest::qWaitFor([&session] { return session.jobs().idle(); });
}

[[nodiscard]] bool showPair(MainWindow& window, Session& session, const QSize& size)
{
    window.resize(size);
    window.show();
    return openAndWait(session, somePair());
}

/// The docks and a menu of a window that begins with one theme and goes on with another; nothing when it fails.
std::map<QString, QImage> picturesIn(ThemeChoice first, ThemeChoice then)
{
    std::map<QString, QImage> pictures;
    Session session(fakeBuild);
    MainWindow window(session, first, WindowMemory::Fresh);
    if (!showPair(window, session, { 1600, 1000 }) || !QTest::qWaitForWindowActive(&window))
        return {};
    window.showView(QStringLiteral("tensors"));
    QCoreApplication::processEvents();
    if (then != first)
        window.setThemeChoice(then);
    if (!QTest::qWaitFor([&window] { return window.updatesEnabled(); }))
        return {};
    for (const char* view : { "tensors", "findings", "inspector", "layer-chart", "samples", "advisor", "weight-lab" }) {
        window.showView(QLatin1String(view));
        if (!QTest::qWaitFor([] { return !restyling(); }, 20'000))
            return {};
        QTest::qWait(50);
        if (QWidget* focus = QApplication::focusWidget()) // what is marked as having it is another matter
            focus->clearFocus();
        pictures[QLatin1String(view)]
            = window.findChild<QDockWidget*>(QLatin1String("dock-") + QLatin1String(view))->grab().toImage();
    }
    pictures[QStringLiteral("graph")] = window.centralWidget()->grab().toImage();
    pictures[QStringLiteral("menus")] = window.menuBar()->grab().toImage();
    pictures[QStringLiteral("menu")] = window.menuBar()->actions().front()->menu()->grab().toImage();
    return pictures;
}

} // namespace

class TestViews : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { setUpProgram(m_folder); }

    void startPageUntilSomethingIsOpen()
    {
        Session session(fakeBuild);
        MainWindow window(session, ThemeChoice::Light, WindowMemory::Fresh);
        window.show();
        const auto* start = window.findChild<StartPage*>();
        QVERIFY(start->isVisible());
        for (const QDockWidget* dock : window.findChildren<QDockWidget*>())
            QVERIFY2(dock->isHidden(), qPrintable(dock->objectName()));
        QVERIFY(openAndWait(session, somePair()));
        QVERIFY(!start->isVisible());
        for (const char* panel : { "findings", "inspector", "distribution", "layer-chart", "tensors", "samples" })
            QVERIFY2(!window.findChild<QDockWidget*>(QStringLiteral("dock-") + panel)->isHidden(), panel);
        QVERIFY(window.findChild<QDockWidget*>(QStringLiteral("dock-graph-2"))->isHidden());
        QVERIFY(window.windowTitle().startsWith(QStringLiteral("micro_kws")));
        QVERIFY(openAndWait(session, {}));
        QVERIFY(start->isVisible());
    }

    void everyViewCanBeRaised()
    {
        Session session(fakeBuild);
        MainWindow window(session, ThemeChoice::Light, WindowMemory::Fresh);
        QVERIFY(showPair(window, session, { 1280, 800 }));
        for (const QString& name : MainWindow::viewNames())
            QVERIFY2(window.showView(name), qPrintable(name));
        QVERIFY(!window.showView(QStringLiteral("nothing")));
    }

    void errorsLeaveWhatIsOpen()
    {
        Session session(fakeBuild);
        MainWindow window(session, ThemeChoice::Light, WindowMemory::Fresh);
        window.show();
        QVERIFY(openAndWait(session, somePair()));
        const SnapshotPtr before = session.snapshot();
        QVERIFY(openAndWait(session, somePair("bad")));
        QCOMPARE(session.snapshot(), before);
        ErrorBar& bar = window.errorBar();
        QVERIFY(bar.isVisible());
        QCOMPARE(bar.findChild<QLabel*>(QStringLiteral("errorHeadline"))->text(),
            QStringLiteral("bad.onnx: the file is truncated."));
        bar.findChildren<QPushButton*>().front()->click();
        QVERIFY(QGuiApplication::clipboard()->text().contains(QStringLiteral("/models/bad.onnx")));
        QVERIFY(openAndWait(session, somePair("/models/micro_kws/other.onnx")));
        QVERIFY(!bar.isVisible());
    }

    void oneSelectionEverywhere()
    {
        Session session(fakeBuild);
        MainWindow window(session, ThemeChoice::Light, WindowMemory::Fresh);
        QVERIFY(showPair(window, session, { 1280, 800 }));
        session.selection().selectActivation(7);
        QTableView* table = window.tensors().table();
        const auto selected = [table] { return table->currentIndex().data(RowRole).toULongLong(); };
        QCOMPARE(selected(), 7ULL);
        const auto* inspector = window.findChild<InspectorPanel*>();
        QCOMPARE(inspectorTitle(*session.snapshot(), session.selection().current()),
            QStringLiteral("layer/conv_7 · output"));
        QVERIFY(inspector->table()->model()->rowCount() > 10);
        table->setCurrentIndex(table->model()->index(0, 0)); // the user chooses the worst
        QCOMPARE(session.selection().current().activation, std::optional<size_t>(5));
        session.selection().goBack();
        QCOMPARE(selected(), 7ULL);
    }

    void chosenRowIsWhollySeen()
    {
        Session session(fakeBuild);
        MainWindow window(session, ThemeChoice::Light, WindowMemory::Fresh);
        QVERIFY(showPair(window, session, { 1280, 800 }));
        QTableView* table = window.tensors().table();
        const auto seen = [table] {
            const QRect row = table->visualRect(table->currentIndex().siblingAtColumn(0));
            return row.top() >= 0 && row.bottom() <= table->viewport()->rect().bottom();
        };
        const auto aligned = [table] {
            const int height = table->rowHeight(0);
            return table->viewport()->height() % height == 0 && table->rowViewportPosition(0) % height == 0;
        };
        session.selection().selectActivation(
            size_t(table->model()->index(table->model()->rowCount() - 1, 0).data(RowRole).toULongLong())); // the best
        QTRY_VERIFY(seen());
        for (const QSize size : { QSize(1280, 700), QSize(900, 560), QSize(1920, 1080), QSize(1280, 733) }) {
            window.resize(size);
            QTRY_VERIFY(seen());
            QTRY_VERIFY(aligned());
        }
        QVERIFY(table->horizontalScrollBar()->maximum() == 0); // all columns shown at first fit at 1280
    }

    void walksTheWorstList()
    {
        Session session(fakeBuild);
        MainWindow window(session, ThemeChoice::Light, WindowMemory::Fresh);
        window.show();
        QVERIFY(openAndWait(session, somePair()));
        TablePanel& panel = window.tensors();
        panel.table()->setCurrentIndex(panel.table()->model()->index(0, 0));
        double last = -1e9;
        for (int step = 0; step < 5; ++step) {
            const size_t row = *session.selection().current().activation;
            const double now = *session.comparison()->activations[row].accumulated.sqnrDb;
            QVERIFY(now >= last);
            last = now;
            panel.walk(1);
        }
        for (int step = 0; step < 20; ++step)
            panel.walk(-1); // stops at the worst
        QCOMPARE(panel.table()->currentIndex().row(), 0);
    }

    void filterKeepsTheSelection()
    {
        Session session(fakeBuild);
        MainWindow window(session, ThemeChoice::Light, WindowMemory::Fresh);
        window.show();
        QVERIFY(openAndWait(session, somePair()));
        session.selection().selectActivation(3);
        auto* field = window.tensors().header()->findChild<QLineEdit*>();
        QTest::keyClicks(field, QStringLiteral("conv_1"));
        QCOMPARE(window.tensors().table()->model()->rowCount(), 3); // conv_1, conv_10, conv_11
        QCOMPARE(session.selection().current().activation, std::optional<size_t>(3));
        field->clear();
        QCOMPARE(window.tensors().table()->currentIndex().data(RowRole).toULongLong(), 3ULL);
    }

    void focusLeavesTheSelection()
    {
        Session session(fakeBuild);
        MainWindow window(session, ThemeChoice::Light, WindowMemory::Fresh);
        window.resize(1280, 800);
        window.show();
        QVERIFY(QTest::qWaitForWindowActive(&window));
        QVERIFY(openAndWait(session, somePair()));
        session.selection().selectActivation(7);
        QTRY_VERIFY(!window.findChild<QWidget*>(QStringLiteral("weights"))->isEnabled());
        for (int step = 0; step < 80; ++step) {
            QTest::keyClick(&window, Qt::Key_Tab);
            QCOMPARE(session.selection().current().activation, std::optional<size_t>(7));
            const QWidget* focus = QApplication::focusWidget();
            for (const char* behind : { "weights", "outputs", "matching", "jobs" })
                QVERIFY(!focus || !window.findChild<QWidget*>(QLatin1String(behind))->isAncestorOf(focus));
        }
        QVERIFY(window.showView(QStringLiteral("weights")));
        auto* weights = window.findChild<QWidget*>(QStringLiteral("weights"));
        QTRY_VERIFY(weights->isEnabled());
        QTRY_VERIFY(!window.tensors().isEnabled());
        weights->findChild<QTableView*>()->setFocus();
        QCOMPARE(session.selection().current().activation, std::optional<size_t>(7));
        QVERIFY(!session.selection().current().weight);
    }

    void exportNeedsAComparison()
    {
        Session session(fakeBuild);
        MainWindow window(session, ThemeChoice::Light, WindowMemory::Fresh);
        window.show();
        const auto actions = window.findChildren<QAction*>();
        const auto found = std::ranges::find_if(
            actions, [](const QAction* action) { return action->text().contains(QStringLiteral("xport report")); });
        QVERIFY(found != actions.end());
        QVERIFY(!(*found)->isEnabled());
        QVERIFY(openAndWait(session, somePair()));
        QVERIFY((*found)->isEnabled());
    }

    void copiesRows()
    {
        Session session(fakeBuild);
        MainWindow window(session, ThemeChoice::Light, WindowMemory::Fresh);
        QVERIFY(openAndWait(session, somePair()));
        window.tensors().copyRows(TableFormat::Tsv);
        const QStringList lines = QGuiApplication::clipboard()->text().split(u'\n', Qt::SkipEmptyParts);
        QCOMPARE(lines.size(), 13);
        QVERIFY(lines[0].startsWith(QStringLiteral("tensor\top\t")));
        QVERIFY(lines[1].startsWith(QStringLiteral("layer/conv_5_output")));
    }

    void findingsShowAndExplain()
    {
        Session session(fakeBuild);
        MainWindow window(session, ThemeChoice::Light, WindowMemory::Fresh);
        window.show();
        QVERIFY(openAndWait(session, somePair()));
        session.selection().selectActivation(4);
        const QList<FindingCard*> cards = window.findChild<FindingsPanel*>()->findChildren<FindingCard*>();
        QCOMPARE(cards.size(), 2);
        const QList<QPushButton*> buttons = cards[0]->findChildren<QPushButton*>();
        buttons[1]->click(); // behind Apply
        QCOMPARE(session.selection().current().activation, std::optional<size_t>(0));
        const auto visibleTexts = [&] {
            const auto labels = cards[0]->findChildren<QLabel*>();
            return std::ranges::count_if(labels, [](const QLabel* label) { return !label->isHidden(); });
        };
        const auto before = visibleTexts();
        buttons[2]->click();
        QCOMPARE(visibleTexts(), before + 1);
    }

    /// Ten findings that say the same are one card, whose links lead to each place and whose remedy mends them all.
    void findingsAlikeAreOneCard()
    {
        Session session([](const Inputs& inputs, const SnapshotPtr& before, const ProgressFn& progress,
                            const CancelToken& cancel, const PartialFn& partial) -> Result<SnapshotPtr> {
            QS_TRY(const SnapshotPtr made, fakeBuild(inputs, before, progress, cancel, partial));
            auto snapshot = std::make_shared<Snapshot>(*made);
            if (snapshot->comparison)
                for (size_t i = 1; i < 11; ++i) {
                    const ActivationRow& row = snapshot->comparison->activations[i];
                    Finding f = makeFinding(Rule::Outliers, row.node);
                    f.node = row.node;
                    f.tensor = row.name;
                    f.activation = i;
                    f.summary = "Most of " + row.node + " is dead.";
                    snapshot->comparison->findings.push_back(f);
                }
            return SnapshotPtr(snapshot);
        });
        MainWindow window(session, ThemeChoice::Light, WindowMemory::Fresh);
        window.show();
        QVERIFY(openAndWait(session, somePair()));
        auto* panel = window.findChild<FindingsPanel*>();
        const QList<FindingCard*> cards = panel->findChildren<FindingCard*>();
        QCOMPARE(cards.size(), 3);
        FindingCard* group = cards.back();
        QVERIFY2(
            group->accessibleName().contains(QStringLiteral("9 more like it")), qPrintable(group->accessibleName()));
        auto* places = group->findChild<QPushButton*>(QStringLiteral("findingPlaces"));
        QVERIFY(places);
        QLabel* list = nullptr;
        for (QLabel* label : group->findChildren<QLabel*>())
            if (label->textFormat() == Qt::RichText)
                list = label;
        QVERIFY(list && list->isHidden());
        QTest::mouseClick(places, Qt::LeftButton);
        QVERIFY(!list->isHidden());
        QCOMPARE(list->text().count(QStringLiteral("<a ")), 10);
        QGuiApplication::clipboard()->clear(); // all of them, from the keys alone
        panel->setFocus();
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Down);
        QCOMPARE(QApplication::focusWidget(), cards[0]);
        QTest::keyClick(cards[0], Qt::Key_Down);
        QCOMPARE(QApplication::focusWidget(), cards[1]);
        QTest::keyClick(cards[1], Qt::Key_C, Qt::ControlModifier);
        QCOMPARE(QGuiApplication::clipboard()->text(), cards[1]->text());
        QLabel* title = group->findChild<QLabel*>(QStringLiteral("findingTitle"));
        QTest::keyClick(title, Qt::Key_C, Qt::ControlModifier);
        QCOMPARE(QGuiApplication::clipboard()->text(), group->text());
        QCOMPARE(group->text().count(QStringLiteral("is dead.")), 10);
        emit group->copyAllRequested();
        for (const FindingCard* card : cards)
            QVERIFY(QGuiApplication::clipboard()->text().contains(card->text()));
        emit list->linkActivated(QStringLiteral("3"));
        QCOMPARE(session.selection().current().activation, std::optional<size_t>(4));
        QVERIFY(panel->findChild<QLabel*>(QStringLiteral("findingTitle")));
    }

    void theStripSaysWhatIsOpen()
    {
        Session session(fakeBuild);
        MainWindow window(session, ThemeChoice::Light, WindowMemory::Fresh);
        QVERIFY(openAndWait(session, somePair()));
        QCOMPARE(projectLine(*session.snapshot()), QStringLiteral("float.onnx ⇄ qdq.onnx · simulated"));
    }

    void metricSortsTheTable()
    {
        Session session(fakeBuild);
        MainWindow window(session, ThemeChoice::Light, WindowMemory::Fresh);
        QVERIFY(openAndWait(session, somePair()));
        session.setMetric(Metric::Clipped);
        const QModelIndex first
            = window.tensors().table()->model()->index(0, window.tensors().model()->columnOf(Metric::Clipped));
        QCOMPARE(first.data().toString(), QStringLiteral("3.0 %"));
    }

    void windowClosedOnItsStartPage()
    {
        QSettings().clear();
        {
            Session session(fakeBuild);
            MainWindow window(session, ThemeChoice::Light, WindowMemory::Remembered);
            window.show();
            window.close();
        }
        Session session(fakeBuild);
        MainWindow window(session, {}, WindowMemory::Remembered);
        window.show();
        QVERIFY(openAndWait(session, somePair()));
        auto* tensors = window.findChild<QDockWidget*>(QStringLiteral("dock-tensors"));
        const auto beside = window.tabifiedDockWidgets(tensors);
        const auto shown = [](const QDockWidget* dock) { return !dock->isHidden(); };
        QCOMPARE(std::count_if(beside.begin(), beside.end(), shown), 8); // the arrangement of a first start
    }

    void filesAreDropped()
    {
        QTemporaryDir folder;
        const QString data = folder.filePath(QStringLiteral("samples.npz"));
        QFile file(data);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.close();
        Session session(fakeBuild);
        MainWindow window(session, ThemeChoice::Light, WindowMemory::Fresh);
        window.show();
        QVERIFY(openAndWait(session, somePair()));
        QMimeData nothing, dropped;
        nothing.setText(QStringLiteral("words"));
        dropped.setUrls({ QUrl::fromLocalFile(data) });
        QDragEnterEvent refused({ 10, 10 }, Qt::CopyAction, &nothing, Qt::LeftButton, Qt::NoModifier);
        refused.ignore();
        QCoreApplication::sendEvent(&window, &refused);
        QVERIFY(!refused.isAccepted());
        QDragEnterEvent enter({ 10, 10 }, Qt::CopyAction, &dropped, Qt::LeftButton, Qt::NoModifier);
        QCoreApplication::sendEvent(&window, &enter);
        QVERIFY(enter.isAccepted());
        const auto* hint = window.findChild<DropHint*>();
        QVERIFY(hint->isVisible());
        QTRY_VERIFY(hint->text().contains(QStringLiteral("samples.npz: the samples that the models are compared on")));
        QDragLeaveEvent leave;
        QCoreApplication::sendEvent(&window, &leave);
        QVERIFY(!hint->isVisible());
        QMimeData script;
        const QString notes = folder.filePath(QStringLiteral("notes.py"));
        QVERIFY(QFile::copy(data, notes));
        script.setUrls({ QUrl::fromLocalFile(notes) });
        QDragEnterEvent entered({ 10, 10 }, Qt::CopyAction, &script, Qt::LeftButton, Qt::NoModifier);
        QCoreApplication::sendEvent(&window, &entered);
        QTRY_VERIFY(hint->text().contains(QStringLiteral("notes.py: not opened")));
        QCoreApplication::sendEvent(&window, &leave);
        QCoreApplication::sendEvent(&window, &enter);
        QSignalSpy settled(&session, &Session::settled);
        QDropEvent drop(QPointF(10, 10), Qt::CopyAction, &dropped, Qt::LeftButton, Qt::NoModifier);
        QCoreApplication::sendEvent(&window, &drop);
        QVERIFY(!hint->isVisible());
        QVERIFY(settled.wait());
        QCOMPARE(session.snapshot()->inputs.data.spec, data.toStdString()); // data for the models that are open
        QCOMPARE(session.snapshot()->inputs.quantPath, somePair().quantPath);
    }

    void cancelWhatBeganBeforeTheWindow()
    {
        std::atomic<bool> started = false;
        Session session([&started](const Inputs&, const SnapshotPtr&, const ProgressFn&, const CancelToken& cancel,
                            const PartialFn&) -> Result<SnapshotPtr> {
            started = true;
            while (!cancel.cancelled())
                QThread::msleep(1);
            return cancelled();
        });
        session.openInputs(somePair());
        QTRY_VERIFY(started.load());
        MainWindow window(session, ThemeChoice::Light, WindowMemory::Fresh);
        window.show();
        QVERIFY(QTest::qWaitForWindowActive(&window));
        QSignalSpy cancelled(&session, &Session::cancelled);
        QTest::keyClick(&window, Qt::Key_Escape);
        QTRY_COMPARE(cancelled.size(), 1);
    }

    void rememberedWindow()
    {
        int wide = 0;
        {
            Session session(fakeBuild);
            MainWindow window(session, ThemeChoice::Dark, WindowMemory::Remembered);
            window.show();
            QVERIFY(openAndWait(session, somePair()));
            window.setThemeChoice(ThemeChoice::Dark);
            window.findChild<QDockWidget*>(QStringLiteral("dock-findings"))->hide();
            auto* chart = window.findChild<QDockWidget*>(QStringLiteral("dock-layer-chart"));
            window.resizeDocks({ chart }, { 500 }, Qt::Horizontal);
            QCoreApplication::processEvents();
            wide = chart->width();
            QVERIFY(openAndWait(session, {})); // the start page between
            QVERIFY(chart->isHidden());
            QVERIFY(openAndWait(session, somePair()));
            QTRY_COMPARE(chart->width(), wide);
            window.close();
        }
        Session session(fakeBuild);
        MainWindow window(session, {}, WindowMemory::Remembered);
        window.show();
        QVERIFY(session.theme().dark);
        QVERIFY(openAndWait(session, somePair()));
        QVERIFY(window.findChild<QDockWidget*>(QStringLiteral("dock-findings"))->isHidden());
        QVERIFY(!window.findChild<QDockWidget*>(QStringLiteral("dock-tensors"))->isHidden());
        QTRY_COMPARE(window.findChild<QDockWidget*>(QStringLiteral("dock-layer-chart"))->width(), wide);
    }

    /// A window that changes its theme looks as one that began with it: what is seen, and what is shown afterwards.
    void anotherThemeLeavesNothingOfTheFirst_data()
    {
        QTest::addColumn<bool>("dark");
        QTest::newRow("dark after light") << true;
        QTest::newRow("light after dark") << false;
    }

    void anotherThemeLeavesNothingOfTheFirst()
    {
        QFETCH(const bool, dark);
        const ThemeChoice wanted = dark ? ThemeChoice::Dark : ThemeChoice::Light;
        const std::map<QString, QImage> begun = picturesIn(wanted, wanted);
        const std::map<QString, QImage> changed = picturesIn(dark ? ThemeChoice::Light : ThemeChoice::Dark, wanted);
        QVERIFY(!begun.empty() && !changed.empty());
        for (const auto& [name, picture] : begun)
            QVERIFY2(changed.at(name) == picture, qPrintable(name));
    }

    void everyMenuActionHasAName()
    {
        Session session(fakeBuild);
        MainWindow window(session, ThemeChoice::Light, WindowMemory::Fresh);
        QSet<QKeySequence> seen;
        for (const QAction* action : window.findChildren<QAction*>()) {
            for (const QKeySequence& key : action->shortcuts()) {
                if (action->shortcutContext() != Qt::WindowShortcut)
                    continue;
                QVERIFY2(!seen.contains(key), qPrintable(key.toString()));
                seen.insert(key);
            }
        }
        QVERIFY(seen.contains(QKeySequence(QStringLiteral("Ctrl+Shift+P"))));
        QVERIFY(seen.contains(QKeySequence(QStringLiteral("Alt+Left"))));
    }

    void screenshot_data()
    {
        QTest::addColumn<QSize>("size");
        QTest::addColumn<bool>("dark");
        QTest::newRow("small") << QSize(1280, 800) << false;
        QTest::newRow("large dark") << QSize(1920, 1080) << true;
    }
    void screenshot()
    {
        QFETCH(QSize, size);
        QFETCH(bool, dark);
        Session session(fakeBuild);
        MainWindow window(session, dark ? ThemeChoice::Dark : ThemeChoice::Light, WindowMemory::Fresh);
        session.openInputs(somePair());
        Screenshot screenshot(session, window, size);
        const QString path = m_folder.filePath(QStringLiteral("window.png"));
        std::optional<bool> success;
        screenshot.take(
            path, [] { return Status {}; }, [&](const Status& status) { success = status.ok(); });
        QTRY_VERIFY_WITH_TIMEOUT(success.has_value(), 20000);
        QVERIFY(*success);
        const QImage image(path);
        QCOMPARE(image.size(), size);
        QCOMPARE(image.pixelColor(2, size.height() - 2).lightness() < 128, dark);
        success.reset();
        screenshot.take(
            m_folder.filePath(QStringLiteral("no/such/folder.png")), [] { return Status {}; },
            [&](const Status& status) { success = status.ok(); });
        QTRY_VERIFY_WITH_TIMEOUT(success.has_value(), 20000);
        QVERIFY(!*success);
    }

private:
    QTemporaryDir m_folder;
};

QTEST_MAIN(TestViews)
#include "test_views.moc"
