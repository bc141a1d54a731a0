// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/small_model.h"
#include "tests/views/support/example_window.h"
#include "widgets/models/base/formatting.h"
#include "widgets/plots/channel_chart.h"
#include "widgets/plots/heat_map.h"
#include "widgets/plots/line_chart.h"
#include "widgets/plots/point_chart.h"
#include "widgets/plots/save_dialog.h"
#include "widgets/session/export/exports.h"
#include "widgets/session/files/open_files.h"
#include "widgets/views/actions/named_action.h"
#include "widgets/views/base/open_dialogs.h"
#include "widgets/views/detail/channels_panel.h"
#include "widgets/views/detail/error_map_panel.h"
#include "widgets/views/detail/weight_lab_panel.h"
#include "widgets/views/findings/findings_panel.h"
#include "widgets/views/graph/graph_canvas.h"
#include "widgets/views/graph/graph_numbers.h"
#include "widgets/views/graph/graph_panel.h"
#include "widgets/views/tables/chosen_sample.h"
#include "widgets/views/tables/difference_panel.h"
#include "widgets/views/tables/link_dialog.h"
#include "widgets/views/tables/matching_panel.h"
#include "widgets/views/tables/samples_panel.h"
#include "widgets/views/theme/style.h"
#include "widgets/views/window/dock_layout.h"

#include <QAbstractItemModelTester>
#include <QAction>
#include <QDockWidget>
#include <QFileDialog>
#include <QLabel>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QTreeView>
#include <QUndoStack>

#include <atomic>
#include <cmath>

using namespace qs;
using namespace qs::test;

namespace {

const std::string kExamples = QS_SOURCE_DIR "/resources/examples/";

/// A window with the bundled example, compared.
struct Example : ExampleWindow {
    Example()
        : ExampleWindow(realBuild(), bundledExample(40))
    {
    }
    bool ready()
    {
        return QTest::qWaitFor(
            [this] { return session.jobs().idle() && session.comparison() && !session.comparison()->partial; },
            kPatience);
    }
    template <class Panel> Panel& panel() { return *window.findChild<Panel*>(); }
    size_t rowOf(const std::string& opType) const
    {
        const auto& rows = session.snapshot()->comparison->activations;
        return size_t(std::ranges::find(rows, opType, &ActivationRow::opType) - rows.begin());
    }
};

} // namespace

class TestDetailViews : public QObject {
    Q_OBJECT
private slots:
    void initTestCase()
    {
        QCoreApplication::setApplicationName(QStringLiteral("quantscope-test"));
        setUpApplication(*qApp);
    }

    void namesAreProposedForFiles()
    {
        Example e;
        QVERIFY(e.ready());
        askForReport(e.session, &e.window);
        auto* dialog = e.window.findChild<QFileDialog*>();
        QVERIFY(dialog);
        QCOMPARE(dialog->selectedFiles(), QStringList { toQt(kExamples) + QStringLiteral("digits_float_report.html") });
        dialog->close();
    }

    void openFilesAreNotReplaced()
    {
        Example e;
        QVERIFY(e.ready());
        QSignalSpy failed(&e.session, &Session::failed);
        std::atomic<int> written { 0 };
        const auto count = [&written](const JobContext&) -> Status {
            ++written;
            return {};
        };
        writeInJob(e.session, QStringLiteral("test"), toQt(e.session.files().quantPath), count);
        QTRY_COMPARE(failed.count(), 1);
        QCOMPARE(written.load(), 0);
        const QTemporaryDir folder;
        writeInJob(e.session, QStringLiteral("test"), folder.filePath(QStringLiteral("new.onnx")), count);
        QTRY_COMPARE(written.load(), 1);
    }

    /// A box has the number of the tensor that the next box sees; of another of its tensors while that is selected.
    void oneSelectionHasOneNumber()
    {
        Example e;
        QVERIFY(e.ready());
        const GraphCanvas& canvas = e.window.graph().canvas();
        e.session.selection().clear();
        std::vector<QString> own;
        for (const BoxLook& box : canvas.look().boxes)
            own.push_back(box.number);
        size_t others = 0;
        for (size_t r = 0; r < e.session.comparison()->activations.size(); ++r) {
            const ActivationRow& row = e.session.comparison()->activations[r];
            e.session.selection().selectActivation(r);
            const auto selected = canvas.look().selected;
            QVERIFY2(selected, row.name.c_str());
            const QString number
                = row.accumulated.exact ? QStringLiteral("exact") : decibelText(row.accumulated.sqnrDb);
            const QString shown = canvas.look().boxes[*selected].number;
            if (shown == own[*selected]) {
                QCOMPARE(shown, number);
            } else { // of a part, which is named
                QCOMPARE(shown, toQt(row.opType) + u' ' + number);
                ++others;
            }
        }
        QVERIFY(others > 1); // of what Conv makes before its Relu
        e.session.selection().clear();
        for (size_t b = 0; b < own.size(); ++b)
            QCOMPARE(canvas.look().boxes[b].number, own[b]);
    }

    /// What is held by the mouse is let go of: its place would be gone when it is dropped.
    void panelsComeBackThoughOneIsDragged()
    {
        Example e;
        QVERIFY(e.ready());
        DockLayout& layout = e.window.layoutOfPanels();
        QDockWidget& dock = *e.window.findChild<QDockWidget*>(QStringLiteral("dock-inspector"));
        const auto openPanels = [&layout] {
            QList<bool> open;
            for (const QAction* action : layout.toggleActions())
                open << action->isChecked();
            return open;
        };
        for (const bool otherLayout : { false, true }) {
            layout.apply(LayoutName::Inspect);
            const QList<bool> open = openPanels();
            QWidget* title = dock.titleBarWidget();
            QTest::mousePress(title, Qt::LeftButton, {}, QPoint(4, 4));
            for (int step = 1; step < 8; ++step) {
                const QPoint at(4 - 40 * step, 4 + 20 * step);
                QMouseEvent move(
                    QEvent::MouseMove, at, title->mapToGlobal(QPointF(at)), Qt::NoButton, Qt::LeftButton, {});
                QCoreApplication::sendEvent(title, &move);
                QCoreApplication::processEvents();
            }
            QVERIFY(dock.isFloating());
            if (otherLayout)
                layout.apply(LayoutName::Inspect);
            layout.hideAll();
            layout.showAgain();
            QTest::mouseRelease(title, Qt::LeftButton, {}, QPoint(4, 4));
            QCoreApplication::processEvents();
            layout.hideAll();
            layout.showAgain();
            QCoreApplication::processEvents();
            QCOMPARE(openPanels(), open);
        }
    }

    void nodeAloneIsMeasuredWhenAskedFor()
    {
        Example e;
        QVERIFY(e.ready());
        const auto actions = e.window.findChildren<QAction*>();
        const auto found = std::ranges::find(
            actions, QStringLiteral("recipe.nodeAlone"), [](const QAction* action) { return actionId(*action); });
        QAction* action = found == actions.end() ? nullptr : *found;
        QVERIFY(action && action->isEnabled() && !action->isChecked());
        const auto measured = [&] {
            const auto metrics = availableMetrics(*e.session.snapshot());
            return std::ranges::find(metrics, Metric::NodeAlone) != metrics.end();
        };
        QVERIFY(!measured());
        for (const bool on : { true, false }) {
            action->trigger();
            QTRY_COMPARE_WITH_TIMEOUT(measured(), on, 60'000);
            QVERIFY(e.ready());
            QCOMPARE(action->isChecked(), on);
        }
    }

    /// Pictures and numbers of plots, like all that is written.
    void plotsReplaceNothingThatIsOpen()
    {
        Example e;
        QVERIFY(e.ready());
        const auto& plot = e.window.findChild<SamplesPanel*>()->scatter();
        for (const std::string& open :
            { e.session.files().floatPath, e.session.files().quantPath, e.session.files().data.spec })
            QVERIFY2(!WriteGuard::refusal(&plot, toQt(open)).isEmpty(), open.c_str());
        const QTemporaryDir folder;
        QVERIFY(WriteGuard::refusal(&plot, folder.filePath(QStringLiteral("new.png"))).isEmpty());
    }

    void samples()
    {
        Example e;
        QVERIFY(e.ready());
        QVERIFY(e.window.showView(QStringLiteral("samples")));
        auto& panel = e.panel<SamplesPanel>();
        QCOMPARE(panel.model()->rowCount(), 40);
        QCOMPARE(panel.scatter().data().points.size(), size_t(40));
        panel.table()->setCurrentIndex(panel.table()->model()->index(0, 0)); // the least margin in the quantized model
        const auto sample = e.session.selection().current().sample;
        QVERIFY(sample);
        QVERIFY(e.ready());
        QTRY_VERIFY(panel.chosen().text().contains(QStringLiteral("<table")));
        QCOMPARE(panel.scatter().chosen(), sample);
        const FoldedGraph& graph = e.window.graph().canvas().scene()->graph();
        const auto all = boxNumbers(*e.session.snapshot(), Side::Quantized, graph, Metric::Accumulated);
        const auto one = boxNumbers(*e.session.snapshot(), Side::Quantized, graph, Metric::Accumulated, sample);
        size_t differ = 0;
        for (size_t b = 0; b < all.size(); ++b) {
            if (!one[b].row)
                continue;
            const ActivationRow& row = e.session.comparison()->activations[*one[b].row];
            QVERIFY(one[b].value == row.sampleSqnrDb[*sample]);
            differ += one[b].value != all[b].value;
        }
        QVERIFY(differ > 3);
        for (size_t b = 0; b < one.size(); ++b)
            QCOMPARE(e.window.graph().canvas().look().boxes[b].number, one[b].text);
        e.session.selection().selectSample(std::nullopt);
        for (size_t b = 0; b < all.size(); ++b)
            QCOMPARE(e.window.graph().canvas().look().boxes[b].number, all[b].text);
    }

    void channelsAndErrorMap()
    {
        Example e;
        QVERIFY(e.ready());
        e.session.selection().selectActivation(e.rowOf("Conv"));
        QVERIFY(e.window.showView(QStringLiteral("channels")));
        auto& channels = e.panel<ChannelsPanel>();
        QTRY_VERIFY_WITH_TIMEOUT(!channels.chart().data().channels.empty(), kPatience);
        const ActivationRow& row = e.session.comparison()->activations[e.rowOf("Conv")];
        QCOMPARE(channels.chart().data().channels.size(), size_t(row.shape[1]));
        QVERIFY(channels.summary().contains(QStringLiteral("range ratio")));
        QTest::keyClick(&channels.chart(), Qt::Key_Right);
        QCOMPARE(e.session.selection().current().channel, std::optional<size_t>(0));
        QVERIFY(e.window.showView(QStringLiteral("error-map")));
        auto& map = e.panel<ErrorMapPanel>();
        QTRY_VERIFY_WITH_TIMEOUT(!map.map().data().values.empty(), kPatience);
        QCOMPARE(map.map().data().rows, size_t(row.shape[2]));
        QVERIFY(map.map().data().high > 0);
        QVERIFY(!map.bands().data().items.empty());
        QVERIFY(map.map().csv().startsWith(QStringLiteral("row,column,value\n0,0,")));

        const auto& weights = e.session.comparison()->weights;
        const auto weight = std::ranges::find(weights, false, &WeightRow::bias) - weights.begin();
        e.session.selection().selectWeight(size_t(weight));
        QCOMPARE(channels.chart().data().channels.size(), weights[size_t(weight)].channelAbsMax.size());
        QTRY_COMPARE_WITH_TIMEOUT(
            map.map().data().rows, weights[size_t(weight)].channelAbsMax.size(), kPatience); // an output channel a row
        QVERIFY(map.map().data().high > 0);
        QCOMPARE(map.map().data().rowName, QStringLiteral("channel"));
        QVERIFY(!map.bands().data().items.empty());

        for (const char* name : { "dock-channels", "dock-error-map" }) // nobody looks at them then
            e.window.findChild<QDockWidget*>(QLatin1String(name))->close();
        QVERIFY(!map.isVisible());
        e.session.selection().selectActivation(e.rowOf("Conv"));
        e.window.setThemeChoice(ThemeChoice::Dark); // draws it nonetheless, not with the weight of before
        QVERIFY(map.map().data().values.empty());
        QVERIFY(e.window.showView(QStringLiteral("error-map")));
        QTRY_COMPARE_WITH_TIMEOUT(map.map().data().rows, size_t(row.shape[2]), kPatience);
    }

    /// A recipe that quantizes nothing compares the float model with itself.
    void nothingQuantizedIsNoAllClear()
    {
        Example e;
        QVERIFY(e.ready());
        Recipe none = e.session.recipe().recipe();
        none.exclude.clear();
        for (const RecipeNode& node : e.window.recipe().nodes())
            none.exclude.push_back(node.name);
        e.session.recipe().apply(QStringLiteral("None"), none);
        e.session.run();
        QTRY_VERIFY_WITH_TIMEOUT(e.ready() && e.session.snapshot()->inputs.recipe == none, kPatience);
        QVERIFY(e.session.comparison()->findings.empty());
        const auto hint = [&] {
            const auto* label = e.panel<FindingsPanel>().findChild<QLabel*>(QStringLiteral("emptyHint"));
            return label ? label->text() : QString();
        };
        QTRY_VERIFY2(hint().contains(QStringLiteral("The recipe quantizes no node")), qPrintable(hint()));
        QVERIFY(!hint().contains(QStringLiteral("nothing stands out")));
        e.window.layoutOfPanels().raise(QStringLiteral("error-map"));
        e.session.selection().selectActivation(e.rowOf("Conv"));
        const LineChart& bands = e.panel<ErrorMapPanel>().bands();
        QTRY_VERIFY_WITH_TIMEOUT(bands.isVisible() && !bands.data().emptyText.isEmpty(), kPatience);
        QVERIFY(bands.data().items.empty() && bands.data().series.empty());
    }

    void linksByHand_data()
    {
        QTest::addColumn<std::string>("type");
        QTest::newRow("inside a unit") << std::string("Conv");
        QTest::newRow("found by its numbers, too") << std::string("MaxPool");
    }

    void linksByHand()
    {
        QFETCH(std::string, type);
        Example e;
        QVERIFY(e.ready());
        QVERIFY(e.window.showView(QStringLiteral("matching")));
        auto& panel = e.panel<MatchingPanel>();
        const QAbstractItemModelTester tester(panel.model(), QAbstractItemModelTester::FailureReportingMode::QtTest);
        const size_t pairs = e.session.snapshot()->alignment->values.size();
        e.session.selection().selectActivation(e.rowOf(type.c_str()));
        const std::string name = e.session.comparison()->activations[e.rowOf(type.c_str())].name;
        QCOMPARE(panel.chosenRows().size(), size_t(1));
        const QString partner = static_cast<const MatchModel*>(panel.model())->at(panel.chosenRows()[0]).quantName();
        QVERIFY(panel.unlinkAction()->isEnabled());
        panel.unlinkAction()->trigger();
        QVERIFY(e.ready());
        QCOMPARE(e.session.snapshot()->alignment->values.size(), pairs - 1);
        QCOMPARE(e.session.recipe().stack().undoText(), QStringLiteral("Unlink ") + QString::fromStdString(name));

        panel.link(QString::fromStdString(name), partner);
        QVERIFY(e.ready());
        QCOMPARE(e.session.snapshot()->alignment->values.size(), pairs);
        QCOMPARE(e.session.recipe().links().pairs.size(), size_t(1));
        const auto& linked = e.session.comparison()->activations;
        const auto row = std::ranges::find(linked, name, &ActivationRow::name);
        QVERIFY(row != linked.end());
        QCOMPARE(row->method, MatchMethod::Manual);
        const QTemporaryDir folder;
        const QString path = folder.filePath(QStringLiteral("map.json"));
        exportLinks(e.session, path);
        QVERIFY(e.ready());
        const auto read = readManualLinks(path.toStdString());
        QVERIFY(read.ok());
        QVERIFY(*read == e.session.recipe().links());
        e.session.recipe().stack().undo();
        e.session.recipe().stack().undo();
        QVERIFY(e.ready());
        QVERIFY(e.session.recipe().links().empty());
        QCOMPARE(e.session.snapshot()->alignment->values.size(), pairs);
    }

    /// As many elements in another shape may be linked, and are told apart.
    void partnersOfOtherShapesSaySo()
    {
        SmallModel m("chain.onnx");
        m.input("x", { 1, 4, 4 }).constant("sizes", Tensor::of<int64_t>({ 2 }, { 1, 16 }));
        m.node("Relu", { "x" }, { "square" }).node("Reshape", { "square", "sizes" }, { "flat" });
        m.node("Relu", { "flat" }, { "y" }).output("y");
        Snapshot snapshot;
        snapshot.floatModel = loadedModel(std::make_shared<Model>(std::move(m).finish().plan->model()));
        snapshot.quantModel = snapshot.floatModel;
        snapshot.alignment = std::make_shared<Alignment>();
        const ValueId flat = snapshot.floatModel->graph().findValue("flat");
        QStringList same, other;
        for (const LinkCandidate& candidate : linkCandidates(snapshot, Side::Float, flat))
            if (candidate.fits)
                (candidate.sameShape ? same : other) << candidate.name;
        same.sort();
        other.sort();
        QCOMPARE(same, QStringList({ "flat", "y" }));
        QCOMPARE(other, QStringList({ "square", "x" }));
    }

    void asksForAPartner()
    {
        Example e;
        QVERIFY(e.ready());
        const auto& pair = e.session.snapshot()->alignment->values[2];
        const std::string name = e.session.snapshot()->floatModel->graph().value(pair.floatValue).name;
        LinkDialog dialog(*e.session.snapshot(), Side::Float, pair.floatValue, QString::fromStdString(name));
        dialog.setAttribute(Qt::WA_DeleteOnClose, false);
        QSignalSpy chosen(&dialog, &LinkDialog::chosen);
        const QAbstractItemModel& offered = *dialog.list()->model();
        QVERIFY(offered.rowCount() > 5);
        for (int row = 0; row < offered.rowCount(); ++row) { // N×8×… beside N×16×… is another size, whatever N is
            const QString channels = offered.index(row, 2).data().toString().section(u'×', 1);
            const QString of = offered.index(0, 2).data().toString().section(u'×', 1);
            QCOMPARE(bool(offered.flags(offered.index(row, 0)) & Qt::ItemIsEnabled), channels == of);
        }
        QTest::keyClick(dialog.list(), Qt::Key_Down);
        QMetaObject::invokeMethod(&dialog, "accept");
        QCOMPARE(chosen.size(), 1);
        const auto quantValue
            = e.session.snapshot()->quantModel->graph().findValue(chosen[0][0].toString().toStdString());
        QVERIFY(quantValue.valid());
    }

    void comparesTwoQuantizedFiles()
    {
        Example e;
        QVERIFY(e.ready());
        QVERIFY(e.window.showView(QStringLiteral("difference")));
        auto& panel = e.panel<DifferencePanel>();
        QCOMPARE(panel.model()->rowCount(), 0);
        openOther(e.session, { kExamples + "digits_qdq.onnx", std::nullopt });
        QVERIFY(e.ready());
        QVERIFY(panel.model()->rowCount() > 5);
        const auto& differences = e.session.snapshot()->other->differences;
        QVERIFY(!differences.front().same);
        QVERIFY(differences.front().gainDb > 3); // the narrow range is the fault of the first
        panel.table()->setCurrentIndex(panel.table()->model()->index(0, 0));
        const Place place = e.session.selection().current();
        QCOMPARE(e.session.snapshot()->floatModel->graph().value(place.value).name, differences.front().name);
        openOther(e.session, {});
        QVERIFY(e.ready());
        QCOMPARE(panel.model()->rowCount(), 0);
    }

    void secondGraphShowsTheOther()
    {
        Example e;
        QVERIFY(e.ready());
        auto* second = e.window.findChild<GraphPanel*>(QStringLiteral("graph-2"));
        QVERIFY(!second->canvas().scene()); // nobody looks
        e.window.layoutOfPanels().apply(LayoutName::Compare);
        QVERIFY(e.ready());
        QTRY_VERIFY(second->canvas().scene());
        QCOMPARE(second->side(), Side::Float);
        e.session.selection().selectActivation(e.rowOf("Conv"));
        QVERIFY(second->canvas().look().selected);
        QVERIFY(e.window.graph().canvas().look().selected);
        e.window.graph().setSide(Side::Float);
        QCOMPARE(second->side(), Side::Quantized);
        for (const LayoutName name : { LayoutName::Teach, LayoutName::WhatIf, LayoutName::Inspect })
            e.window.layoutOfPanels().apply(name);
        QVERIFY(!second->isVisible());
    }

    void columnsOfSamplesFitInASmallWindow()
    {
        Example e;
        e.window.resize(1280, 800);
        QVERIFY(e.ready());
        QVERIFY(e.window.showView(QStringLiteral("samples")));
        const QTableView* table = e.window.findChild<TablePanel*>(QStringLiteral("samples"))->table();
        QTRY_VERIFY(table->isVisible());
        QTRY_COMPARE(table->horizontalScrollBar()->maximum(), 0);
    }

    void panelsWithoutATabSayTheirName()
    {
        Example e;
        QVERIFY(e.ready());
        const auto* title = e.window.findChild<QDockWidget*>(QStringLiteral("dock-layer-chart"))
                                ->titleBarWidget()
                                ->findChild<QLabel*>(QStringLiteral("panelTitle"));
        e.window.layoutOfPanels().apply(LayoutName::Teach); // alone there; closed panels wait behind it
        QTRY_VERIFY(title->isVisible());
        e.window.layoutOfPanels().apply(LayoutName::Compare);
        e.window.showView(QStringLiteral("layer-chart")); // in a tab, wherever it waited
        QTRY_VERIFY(!title->isVisibleTo(title->parentWidget()));
    }

    void weightsInTheLaboratory()
    {
        Example e;
        QVERIFY(e.ready());
        e.session.selection().selectActivation(e.rowOf("Conv"));
        QVERIFY(e.window.showView(QStringLiteral("weight-lab")));
        auto& panel = e.panel<WeightLabPanel>();
        const QAbstractItemModelTester tester(
            panel.findChild<QTableView*>()->model(), QAbstractItemModelTester::FailureReportingMode::QtTest);
        QTRY_VERIFY_WITH_TIMEOUT(panel.model().rowCount() >= 8, kPatience);
        for (int row = 0; row < panel.model().rowCount(); ++row)
            QVERIFY(panel.model()
                        .index(row, panel.model().columnOf(WeightLabModel::Key::Sqnr))
                        .data()
                        .toString()
                        .contains(QStringLiteral("dB")));
        QVERIFY(panel.summary().contains(QStringLiteral("range ratio")));
    }

    void saturatedSums()
    {
        Example e;
        QVERIFY(e.ready());
        const auto* legend = e.window.findChild<TablePanel*>(QStringLiteral("tensors"))
                                 ->findChild<QLabel*>(QStringLiteral("tableFooter"));
        QVERIFY(legend && !legend->text().contains(QStringLiteral("kernel")));
        setArithmetic(e.session, ArithmeticProfile::IntegerAvx2);
        QVERIFY(e.ready());
        QVERIFY2(legend->text().contains(QStringLiteral("kernel")), qPrintable(legend->text()));
        QCOMPARE(e.session.comparison()->profile, ArithmeticProfile::IntegerAvx2);
        QVERIFY(e.window.showView(QStringLiteral("saturation")));
        auto* panel = e.window.findChild<TablePanel*>(QStringLiteral("saturation"));
        QCOMPARE(size_t(panel->model()->rowCount()), e.session.comparison()->saturation.size());
    }
};

QTEST_MAIN(TestDetailViews)
#include "test_detail_views.moc"
