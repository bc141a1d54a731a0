// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/work/long_work.h"
#include "core/quant/recipe/recipe_edit.h"
#include "core/quant/recipe/recipe_json.h"
#include "tests/views/support/example_window.h"
#include "widgets/plots/histogram_plot.h"
#include "widgets/plots/point_chart.h"
#include "widgets/session/export/hand_over.h"
#include "widgets/session/files/autosave.h"
#include "widgets/session/files/open_files.h"
#include "widgets/session/files/projects.h"
#include "widgets/session/recipe/advisor.h"
#include "widgets/views/base/noise_bar.h"
#include "widgets/views/base/table_panel.h"
#include "widgets/views/detail/distribution_panel.h"
#include "widgets/views/findings/findings_panel.h"
#include "widgets/views/graph/graph_canvas.h"
#include "widgets/views/graph/graph_panel.h"
#include "widgets/views/recipe/exclusion_tree.h"
#include "widgets/views/recipe/override_editor.h"
#include "widgets/views/recipe/recipe_form.h"
#include "widgets/views/recipe/what_if_panel.h"
#include "widgets/views/tables/advisor_panel.h"
#include "widgets/views/tables/runs_panel.h"
#include "widgets/views/theme/style.h"
#include "widgets/views/window/main_window.h"
#include "widgets/views/window/recovery_bar.h"

#include <QApplication>
#include <QComboBox>
#include <QDockWidget>
#include <QElapsedTimer>
#include <QLabel>
#include <QLineEdit>
#include <QMouseEvent>
#include <QPushButton>
#include <QSignalSpy>
#include <QStyleOptionComboBox>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QThread>
#include <QTreeView>
#include <QUndoStack>

#include <atomic>
#include <mutex>
#include <set>

using namespace qs;
using namespace qs::test;

namespace {

std::atomic<int> g_onGuiThread { 0 }; ///< long functions that were entered on the GUI thread
std::mutex g_workMutex;
std::set<std::string> g_work; ///< long functions that were entered anywhere; behind the mutex

void noteWork(std::string_view what)
{
    g_onGuiThread += QThread::currentThread() == qApp->thread();
    const std::lock_guard lock(g_workMutex);
    g_work.emplace(what);
}

Result<SnapshotPtr> build(const Inputs& inputs, const SnapshotPtr& previous, const ProgressFn& progress,
    const CancelToken& cancel, const PartialFn& partial)
{
    noteWork("build");
    return buildSnapshot(inputs, previous, progress, cancel, partial);
}

/// A window with an example, compared by what is noted.
struct Example : ExampleWindow {
    explicit Example(const Inputs& inputs = bundledExample())
        : ExampleWindow(build, inputs)
    {
    }
};

QComboBox* comboNamed(QWidget& parent, const QString& name)
{
    for (QComboBox* combo : parent.findChildren<QComboBox*>())
        if (combo->accessibleName() == name)
            return combo;
    return nullptr;
}

/// Where the mouse can take hold of the upper end of the range, in the plot's coordinates.
std::optional<QPoint> handleOf(QWidget& canvas)
{
    const int y = canvas.height() / 4;
    for (int x = canvas.width() - 1; x >= 0; --x) {
        QMouseEvent move(QEvent::MouseMove, QPointF(x, y), canvas.mapToGlobal(QPointF(x, y)), Qt::NoButton,
            Qt::NoButton, Qt::NoModifier);
        QApplication::sendEvent(&canvas, &move);
        if (canvas.cursor().shape() == Qt::SplitHCursor)
            return QPoint(x - 3, y);
    }
    return std::nullopt;
}

} // namespace

class TestRecipeViews : public QObject {
    Q_OBJECT
private slots:
    void initTestCase()
    {
        QCoreApplication::setOrganizationName(QStringLiteral("Quantscope"));
        QCoreApplication::setApplicationName(QStringLiteral("quantscope-test"));
        setUpApplication(*qApp);
        observeLongWork(noteWork);
    }

    /// Over everything that the other tests do, too.
    void cleanupTestCase()
    {
        observeLongWork(nullptr);
        QCOMPARE(g_onGuiThread.load(), 0);
    }

    /// A keyword spotter that a calibration on noise has broken, where its folder is given.
    void theRemedyBringsTheKeywordBack()
    {
        const QString folder = qEnvironmentVariable("QS_MICRO_KWS_DIR");
        if (folder.isEmpty())
            QSKIP("QS_MICRO_KWS_DIR names no folder with float.onnx, qdq.onnx and samples.npz");
        Inputs inputs;
        inputs.floatPath = (folder + QStringLiteral("/float.onnx")).toStdString();
        inputs.quantPath = (folder + QStringLiteral("/qdq.onnx")).toStdString();
        inputs.data.spec = (folder + QStringLiteral("/samples.npz")).toStdString();
        Example example(inputs);
        QVERIFY(example.ready());
        const double wanted = example.session.comparison()->accuracy->floatAccuracy; // "yes"; "no" it never hears
        QVERIFY(example.accuracy() < wanted);
        applyRemedy(example, example.accuracy(), wanted);
    }

    void theRemedyBringsTheClassesBack()
    {
        Example example;
        QVERIFY(example.ready());
        const double before = example.accuracy();
        QVERIFY(before < 0.5);
        applyRemedy(example, before, 0.95);
    }

private:
    /// Recalibrates, undoes and redoes it.
    static void applyRemedy(Example& example, double before, double wanted)
    {
        auto* findings = example.window.findChild<FindingsPanel*>();
        QPushButton* apply = buttonNamed(*findings, QStringLiteral("Recalibrate all activations"));
        QVERIFY(apply);
        QElapsedTimer timer;
        timer.start();
        apply->click();
        QVERIFY(example.settled());
        qInfo("recalibrated and compared in %lld ms", timer.elapsed());
        QCOMPARE(example.stack().count(), 1);
        QCOMPARE(example.stack().undoText(), QStringLiteral("Recalibrate all activations"));
        QVERIFY(example.accuracy() >= wanted);
        timer.start();
        example.stack().undo();
        QVERIFY(example.settled());
        qInfo("undone in %lld ms", timer.elapsed());
        QCOMPARE(example.accuracy(), before);
        example.stack().redo();
        QVERIFY(example.settled());
        QVERIFY(example.accuracy() >= wanted);
    }

private slots:
    void aTensorFollowsACalibratorOfItsOwn()
    {
        Example example;
        QVERIFY(example.ready());
        const ActivationRow* row = example.movableTensor();
        QVERIFY(row);
        const std::string name = row->name;
        auto* editor = example.window.findChild<OverrideEditor*>();
        auto* calibrator = comboNamed(*editor, QStringLiteral("range by"));
        QVERIFY(calibrator);
        const int steps = example.stack().count();
        calibrator->setCurrentIndex(2); // percentile
        emit calibrator->activated(2);
        QCOMPARE(example.stack().count(), steps + 1);
        const TensorOverride& said = example.session.recipe().recipe().tensors.at(name);
        QVERIFY(said.calibrator && said.calibrator->kind == Calibrator::Percentile);
        QVERIFY(!said.parts.front().lowest && !said.parts.front().scale); // a link, no number
        example.session.run();
        QVERIFY(example.settled());
        QCOMPARE(calibrator->currentIndex(), 2);
        const TensorRange* range = example.session.snapshot()->quantization->ranges.find(name);
        QVERIFY(range);
        emit calibrator->activated(0);
        QVERIFY(!example.session.recipe().recipe().tensors.contains(name)
            || !example.session.recipe().recipe().tensors.at(name).calibrator);
    }

    void lostWorkIsAskedFor()
    {
        QTemporaryDir folder;
        const QString path = folder.filePath(QStringLiteral("left.qscope"));
        const QString other = folder.filePath(QStringLiteral("older.qscope"));
        {
            Example example;
            QVERIFY(example.ready());
            Recipe next = example.session.recipe().recipe();
            next.reduceRange = true;
            example.session.setAutoRun(false);
            example.session.recipe().apply(QStringLiteral("Reduce range"), next);
            const Project project = projectOf(example.session);
            QVERIFY(writeProject(project, path.toStdString()).ok());
            QVERIFY(writeProject(project, other.toStdString()).ok());
        }
        Session session(build);
        Autosave autosave(session, folder.filePath(QStringLiteral("again")));
        MainWindow window(session, ThemeChoice::Light, WindowMemory::Fresh);
        window.show();
        auto* bar = window.findChild<RecoveryBar*>();
        QVERIFY(bar && !bar->isVisible());
        window.offerRecovery({ other, path });
        QVERIFY(bar->isVisible());
        QVERIFY(bar->accessibleDescription().contains(QStringLiteral("The work on digits_float of ")));
        QVERIFY(!session.snapshot()->floatModel); // nothing happens unasked
        QTest::keyClick(buttonNamed(*bar, QStringLiteral("Discard the work")), Qt::Key_Return);
        QVERIFY(!QFile::exists(other));
        QVERIFY(bar->isVisible());
        QTest::keyClick(buttonNamed(*bar, QStringLiteral("Restore the work")), Qt::Key_Enter);
        QVERIFY(!bar->isVisible());
        QVERIFY(QTest::qWaitFor([&] { return session.comparison() && session.jobs().idle(); }, kPatience));
        QVERIFY(session.recipe().recipe().reduceRange);
        QCOMPARE(autosave.path(), path); // it is this session's to keep now
        QVERIFY(QFile::exists(path) && session.unsaved());
    }

    void aProjectRemembersTheLayout()
    {
        QTemporaryDir folder;
        const QString path = folder.filePath(QStringLiteral("work.qscope"));
        const auto dock = [](MainWindow& window, const char* panel) {
            return window.findChild<QDockWidget*>(QStringLiteral("dock-") + QLatin1String(panel));
        };
        {
            Example example;
            QVERIFY(example.ready());
            QVERIFY(!dock(example.window, "findings")->isHidden());
            dock(example.window, "findings")->hide();
            QSignalSpy saved(&example.session, &Session::projectSaved);
            openOther(example.session, { {}, example.session.recipe().recipe() });
            QVERIFY(example.settled());
            QVERIFY(example.window.windowFilePath().isEmpty());
            saveProject(example.session, path, example.window.layoutState());
            QVERIFY(QTest::qWaitFor([&] { return !saved.isEmpty(); }, kPatience));
            QCOMPARE(example.window.windowFilePath(), path);
        }
        Session session(build);
        MainWindow window(session, ThemeChoice::Light, WindowMemory::Fresh);
        window.resize(1600, 1000);
        window.show();
        openProject(session, path);
        QVERIFY(QTest::qWaitFor([&] { return session.comparison() && session.jobs().idle(); }, kPatience));
        QVERIFY(dock(window, "findings")->isHidden());
        QVERIFY(!dock(window, "inspector")->isHidden());
        QVERIFY(session.snapshot()->inputs.other.recipe);
        QVERIFY(session.snapshot()->other);
        QCOMPARE(window.windowFilePath(), path); // the next save goes there
        QVERIFY(window.windowTitle().startsWith(QStringLiteral("work")));
        Inputs others = bundledExample();
        const QString elsewhere = folder.filePath(QStringLiteral("float.onnx"));
        QVERIFY(QFile::copy(QString::fromStdString(others.floatPath), elsewhere));
        others.floatPath = elsewhere.toStdString();
        session.openInputs(others);
        QVERIFY(QTest::qWaitFor([&] { return !session.busy() && session.jobs().idle(); }, kPatience));
        QVERIFY(window.windowFilePath().isEmpty()); // other models are not that project's
    }

    void settingsAreReadInASmallWindow()
    {
        Example example;
        QVERIFY(example.ready());
        example.window.resize(1280, 800);
        example.window.showView(QStringLiteral("what-if"));
        QApplication::processEvents();
        RecipeForm& form = example.window.findChild<WhatIfPanel*>()->form();
        const auto* calibrator = static_cast<QComboBox*>(form.editor("calibration.method"));
        const auto* granularity = static_cast<QComboBox*>(form.editor("per_channel"));
        for (const QComboBox* combo : { calibrator, granularity }) {
            QStyleOptionComboBox option;
            option.initFrom(combo);
            const QRect text
                = combo->style()->subControlRect(QStyle::CC_ComboBox, &option, QStyle::SC_ComboBoxEditField, combo);
            QVERIFY(combo->fontMetrics().horizontalAdvance(combo->currentText()) <= text.width());
        }
        RecipeForm narrow(example.session);
        const auto* label = narrow.findChild<QLabel*>(QStringLiteral("formLabel"));
        const QWidget* format = narrow.editor("format");
        narrow.resize(420, 900);
        narrow.show();
        QTRY_VERIFY(format->x() > label->geometry().right());
        narrow.resize(240, 900);
        QTRY_VERIFY(format->y() > label->geometry().bottom());
        QVERIFY(format->geometry().right() <= narrow.width());
    }

    void tabFollowsWhatIsSeen()
    {
        Example example;
        QVERIFY(example.ready());
        example.window.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&example.window));
        QTRY_COMPARE(QApplication::activeWindow(), &example.window);
        const auto stops = [](QWidget* first, int count) {
            first->setFocus(Qt::TabFocusReason);
            QStringList names;
            for (QWidget* at = first; at && names.size() < count; at = QApplication::focusWidget()) {
                names << at->accessibleName();
                QTest::keyClick(at, Qt::Key_Tab);
            }
            return names;
        };
        const auto combo = [&](const QString& name) {
            for (QComboBox* box : example.window.findChildren<QComboBox*>())
                if (box->accessibleName() == name)
                    return box;
            return static_cast<QComboBox*>(nullptr);
        };
        example.window.showView(QStringLiteral("what-if"));
        const QStringList tree { QStringLiteral("Group nodes"),
            QStringLiteral("Exclude nodes by a pattern of their names"), QStringLiteral("Quantized nodes") };
        QCOMPARE(stops(combo(tree.front()), 3), tree);
        example.window.showView(QStringLiteral("advisor"));
        const QString by = QStringLiteral("What is left in float");
        QCOMPARE(stops(combo(by), 3), QStringList({ by, QString(), QStringLiteral("Seconds to search") }));
    }

    void aNodeIsExcludedByKeyCheckBoxAndPattern()
    {
        Example example;
        QVERIFY(example.ready());
        RecipeView& recipe = example.window.recipe();
        const auto conv = std::ranges::find(recipe.nodes(), "Conv", &RecipeNode::opType);
        QVERIFY(conv != recipe.nodes().end());
        const std::string name = conv->name;
        example.session.setAutoRun(false);
        example.session.selection().selectByName(name);
        example.window.graph().canvas().setFocus();
        QTest::keyClick(&example.window, Qt::Key_E);
        QCOMPARE(recipe.mark(name), std::optional(NodeMark::FloatInDraft));
        QCOMPARE(recipe.changesNotRun(), 1);
        QVERIFY(example.session.needsRun());
        const auto& boxes = example.window.graph().canvas().look().boxes;
        QVERIFY(std::ranges::any_of(
            boxes, [](const BoxLook& look) { return look.quantized == TriState::None && !look.note.isEmpty(); }));
        QTest::keyClick(&example.window, Qt::Key_R);
        QVERIFY(example.settled());
        QCOMPARE(recipe.mark(name), std::optional(NodeMark::Float));
        QTest::keyClick(&example.window, Qt::Key_Z, Qt::ControlModifier);
        QCOMPARE(recipe.mark(name), std::optional(NodeMark::Quantized)); // kept numbers: nothing to run

        example.window.showView(QStringLiteral("what-if"));
        ExclusionTree& tree = example.window.findChild<WhatIfPanel*>()->nodes();
        const QModelIndex index = tree.model().indexOf(name);
        QVERIFY(tree.model().setData(index, Qt::Unchecked, Qt::CheckStateRole));
        QCOMPARE(index.data(Qt::CheckStateRole).toInt(), int(Qt::Unchecked));
        tree.pattern()->setText(QStringLiteral("*"));
        QTest::keyClick(tree.pattern(), Qt::Key_Return);
        QCOMPARE(tree.model().quantizedCount(), size_t(0));
        QPushButton* back = tree.findChild<QPushButton*>();
        QVERIFY(back);
        back->click();
        QVERIFY(tree.model().quantizedCount() > 0);
        tree.pattern()->setText(QStringLiteral("nothing-like-this"));
        const int steps = example.stack().count();
        QTest::keyClick(tree.pattern(), Qt::Key_Return);
        QCOMPARE(example.stack().count(), steps);
    }

    void aRangeIsDragged()
    {
        Example example;
        QVERIFY(example.ready());
        example.session.setAutoRun(false);
        const ActivationRow* row = example.movableTensor();
        QVERIFY(row);
        auto* panel = example.window.findChild<DistributionPanel*>();
        QTRY_VERIFY(!panel->plot().data().ticks.empty());
        auto* canvas = panel->plot().findChild<QWidget*>(QString(), Qt::FindDirectChildrenOnly);
        QTest::qWait(50); // the plot is drawn, so that its axes have their place
        const auto at = handleOf(*canvas);
        QVERIFY(at);
        const double before = panel->plot().data().representable->second;
        QTest::mousePress(canvas, Qt::LeftButton, {}, *at);
        QVERIFY(panel->plot().dragging());
        QElapsedTimer timer;
        timer.start();
        constexpr int kMoves = 20;
        for (int i = 1; i <= kMoves; ++i) {
            const QPointF to = *at - QPointF(i, 0);
            QMouseEvent move(QEvent::MouseMove, to, canvas->mapToGlobal(to), Qt::NoButton, Qt::LeftButton, {});
            QApplication::sendEvent(canvas, &move);
            QApplication::processEvents();
        }
        qInfo("a move of the handle takes %.2f ms with its drawing", double(timer.elapsed()) / kMoves);
        QVERIFY(panel->noise().text().startsWith(QStringLiteral("predicted")));
        QVERIFY(panel->plot().data().representable->second < before);
        QCOMPARE(example.stack().count(), 0);
        QTest::mouseRelease(canvas, Qt::LeftButton, {}, *at - QPoint(kMoves, 0));
        QCOMPARE(example.stack().count(), 1);
        const TensorOverride& asked = example.session.recipe().recipe().tensors.at(row->name);
        QVERIFY(asked.parts[0].highest && *asked.parts[0].highest < before);
        QTest::keyClick(&panel->plot(), Qt::Key_Right);
        QTest::keyClick(&panel->plot(), Qt::Key_Right);
        QCOMPARE(example.stack().count(), 2); // keys merge
        example.stack().undo();
        example.stack().undo();
        QCOMPARE(panel->plot().data().representable->second, before);
    }

    /// Once the range was run, its numbers are measured, whatever digits it has.
    void aRangeThatWasRunIsMeasured()
    {
        Example example;
        QVERIFY(example.ready());
        const ActivationRow* row = example.movableTensor();
        QVERIFY(row);
        const std::string name = row->name;
        const double lowest = row->range->first * 0.7123456789, highest = row->range->second * 0.7123456789;
        auto* panel = example.window.findChild<DistributionPanel*>();
        example.session.setAutoRun(false);
        RecipeEdits& edits = example.session.recipe();
        edits.apply(QStringLiteral("range"), withRange(edits.recipe(), name, lowest, highest));
        QTRY_VERIFY(panel->noise().text().startsWith(QStringLiteral("predicted")));
        example.session.run();
        QVERIFY(example.settled());
        QTRY_VERIFY(panel->noise().text().startsWith(QStringLiteral("measured")));
    }

    void settingsAreEditedAndReset()
    {
        Example example;
        QVERIFY(example.ready());
        example.session.setAutoRun(false);
        example.window.showView(QStringLiteral("what-if"));
        RecipeForm& form = example.window.findChild<WhatIfPanel*>()->form();
        auto* method = qobject_cast<QComboBox*>(form.editor("calibration.method"));
        QVERIFY(method);
        method->setCurrentIndex(2);
        emit method->activated(2);
        QCOMPARE(example.session.recipe().recipe().calibration.kind, Calibrator::Percentile);
        QVERIFY(form.editor("calibration.percentile")->isVisibleTo(&form));
        QCOMPARE(example.stack().undoText(), QStringLiteral("Calibrator percentile"));
        const auto marked = [&form] {
            return std::ranges::any_of(
                form.findChildren<QLabel*>(), [](const QLabel* label) { return label->property("changed").toBool(); });
        };
        QVERIFY(marked());
        QPushButton* run = example.window.findChild<WhatIfPanel*>()->runButton();
        QVERIFY(run->isEnabled());
        example.stack().undo();
        QVERIFY(!marked());
        QCOMPARE(method->currentIndex(), -1); // the file does not say how its ranges were found
        QVERIFY(!run->isEnabled());
    }

    void runsAreComparedAndRestored()
    {
        Example example;
        QVERIFY(example.ready());
        buttonNamed(*example.window.findChild<FindingsPanel*>(), QStringLiteral("Recalibrate all activations"))
            ->click();
        QVERIFY(example.settled());
        auto* panel = example.window.findChild<RunsPanel*>();
        QCOMPARE(panel->model().runs().runs().size(), size_t(2));
        QVERIFY(panel->comparison().contains(QStringLiteral("→")));
        const RunId first = panel->model().runs().runs()[0].id;
        QCOMPARE(panel->model().runs().best(), panel->model().runs().runs()[1].id);
        panel->tree()->setCurrentIndex(panel->model().indexOf(first));
        emit panel->tree()->doubleClicked(panel->model().indexOf(first));
        QVERIFY(example.settled());
        QCOMPARE(panel->model().runs().current(), first);
        QVERIFY(example.accuracy() < 0.5);
        columnsComeAndGoWithTheRoom(example.session);
    }

private:
    static void columnsComeAndGoWithTheRoom(Session& session)
    {
        RunsPanel wide(session), grown(session);
        const auto widths = [](RunsPanel& panel) {
            std::vector<int> all;
            for (int column = 0; column < panel.model().columnCount(); ++column)
                all.push_back(panel.tree()->isColumnHidden(column) ? 0 : panel.tree()->columnWidth(column));
            return all;
        };
        wide.resize(1600, 300);
        grown.resize(460, 300);
        wide.show();
        grown.show();
        QTRY_VERIFY(std::ranges::count(widths(grown), 0) > 0);
        QCOMPARE(std::ranges::count(widths(wide), 0), 0);
        grown.resize(1600, 300);
        QTRY_COMPARE(widths(grown), widths(wide));
    }

private slots:

    void theAdvisorsPointIsOneStep()
    {
        Example example;
        QVERIFY(example.ready());
        example.session.setAutoRun(false);
        auto* panel = example.window.findChild<AdvisorPanel*>();
        example.window.showView(QStringLiteral("advisor"));
        example.window.advisor().measure(UnitKind::Node);
        QVERIFY(QTest::qWaitFor([&] { return example.window.advisor().sensitivity(); }, kPatience));
        QVERIFY(panel->ranking()->model()->rowCount() > 0); // the first ones are shown while the rest is measured
        QVERIFY(QTest::qWaitFor([&] { return !example.window.advisor().running(); }, kPatience));
        QVERIFY(panel->ranking()->model()->rowCount() > 3);
        QVERIFY(panel->curve().data().points.size() > 1);
        emit panel->curve().itemChosen(1);
        QCOMPARE(example.stack().count(), 1);
        QVERIFY(example.window.recipe().changesNotRun() > 0);
        const auto info = [&] { return panel->header()->findChild<QLabel*>(QStringLiteral("panelInfo"))->text(); };
        QVERIFY(info().contains(QStringLiteral("another recipe"))); // no advice on this one
        const QColor old = panel->ranking()->palette().color(QPalette::Text);
        example.stack().undo();
        QVERIFY(!info().contains(QStringLiteral("another recipe")));
        QVERIFY(panel->ranking()->palette().color(QPalette::Text) != old);
        example.stack().redo();
        example.window.advisor().search(0.01);
        QVERIFY(QTest::qWaitFor([&] { return !example.window.advisor().found().empty(); }, kPatience));
        QVERIFY(panel->found()->model()->rowCount() >= 1);
        const auto* found = static_cast<const FoundRecipeModel*>(panel->found()->model());
        QTRY_VERIFY(
            !panel->found()->isColumnHidden(found->columnOf(FoundRecipeModel::Key::Accuracy))); // it decides first
        example.window.resize(1280, 800); // where it is equal, the output decides
        QTRY_VERIFY(panel->found()->viewport()->width() < 320);
        QTRY_VERIFY(!panel->found()->isColumnHidden(found->columnOf(FoundRecipeModel::Key::Sqnr)));
        const std::lock_guard lock(g_workMutex); // or the count of what was on the GUI thread would say nothing
        for (const char* what : { "build", "import", "layout", "quantize", "run", "sensitivity" })
            QVERIFY2(g_work.contains(what), what);
    }

    void whatWasRankedStaysAfterACancellation()
    {
        Example example;
        QVERIFY(example.ready());
        example.window.showView(QStringLiteral("advisor"));
        Advisor& advisor = example.window.advisor();
        advisor.measure(UnitKind::Node);
        QVERIFY(QTest::qWaitFor([&] { return advisor.sensitivity(); }, kPatience));
        const size_t ranked = advisor.sensitivity()->units.size();
        QVERIFY(ranked > 0);
        example.session.jobs().cancelTag(Advisor::kTag);
        QVERIFY(QTest::qWaitFor([&] { return !advisor.running(); }, kPatience));
        QVERIFY(advisor.sensitivity() && advisor.sensitivity()->units.size() >= ranked);
        QVERIFY(example.window.findChild<AdvisorPanel*>()->ranking()->isVisible());
    }

    void everythingIsHandedOver()
    {
        Example example;
        QVERIFY(example.ready());
        QTemporaryDir folder;
        RecipeView& recipe = example.window.recipe();
        recipe.togglePart(0);
        QVERIFY(example.settled());
        const std::vector<std::pair<HandOver, QString>> files { { HandOver::Qdq, QStringLiteral("a.onnx") },
            { HandOver::QOperator, QStringLiteral("b.onnx") }, { HandOver::Script, QStringLiteral("c.py") },
            { HandOver::ExcludeList, QStringLiteral("d.txt") }, { HandOver::RecipeJson, QStringLiteral("e.json") } };
        for (const auto& [what, name] : files) {
            handOver(example.session, recipe, what, folder.filePath(name));
            QVERIFY(QTest::qWaitFor([&] { return example.session.jobs().idle(); }, kPatience));
            QVERIFY2(QFile::exists(folder.filePath(name)), qPrintable(name));
        }
        QFile list(folder.filePath(QStringLiteral("d.txt")));
        QVERIFY(list.open(QIODevice::ReadOnly));
        QCOMPARE(list.readAll().trimmed().toStdString(), recipe.nodes()[0].name);
        const auto read = readRecipe(folder.filePath(QStringLiteral("e.json")).toStdString());
        QVERIFY(read.ok());
        QVERIFY(*read == example.session.recipe().recipe());
    }
};

QTEST_MAIN(TestRecipeViews)
#include "test_recipe_views.moc"
