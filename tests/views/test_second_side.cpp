// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/helper_call.h"
#include "tests/views/support/example_window.h"
#include "widgets/models/base/metric.h"
#include "widgets/plots/channel_chart.h"
#include "widgets/plots/heat_map.h"
#include "widgets/plots/histogram_plot.h"
#include "widgets/plots/line_chart.h"
#include "widgets/plots/point_chart.h"
#include "widgets/session/files/open_files.h"
#include "widgets/session/shown/compared_names.h"
#include "widgets/views/base/table_panel.h"
#include "widgets/views/detail/channels_panel.h"
#include "widgets/views/detail/distribution_panel.h"
#include "widgets/views/detail/error_map_panel.h"
#include "widgets/views/detail/layer_chart_panel.h"
#include "widgets/views/graph/graph_canvas.h"
#include "widgets/views/graph/graph_panel.h"
#include "widgets/views/header/other_chip.h"
#include "widgets/views/header/state_notes.h"
#include "widgets/views/tables/chosen_sample.h"
#include "widgets/views/tables/runs_panel.h"
#include "widgets/views/tables/samples_panel.h"
#include "widgets/views/tables/saturation_panel.h"
#include "widgets/views/tasks/picture_row.h"
#include "widgets/views/theme/style.h"
#include "widgets/views/window/dock_layout.h"

#include <QAbstractItemModelTester>
#include <QAction>
#include <QApplication>
#include <QFile>
#include <QFileInfo>
#include <QLabel>
#include <QRegularExpression>
#include <QTabWidget>
#include <QTableView>
#include <QTemporaryDir>
#include <QToolButton>
#include <QTreeView>

using namespace qs;
using namespace qs::test;

namespace {

const std::string kExamples = QS_SOURCE_DIR "/resources/examples/";
const std::string kNarrow = kExamples + "digits_qdq_narrow.onnx", kGood = kExamples + "digits_qdq.onnx";

Inputs exampleOf(const std::string& quantized)
{
    Inputs inputs = bundledExample(40);
    inputs.quantPath = quantized;
    return inputs;
}

/// A window with the bundled example, compared, that can have a second quantized file.
struct Window : ExampleWindow {
    explicit Window(const std::string& quantized = kNarrow)
        : ExampleWindow(realBuild(), exampleOf(quantized))
    {
    }
    bool ready()
    {
        return QTest::qWaitFor(
            [this] { return session.jobs().idle() && session.comparison() && !session.comparison()->partial; },
            kPatience);
    }
    bool chooseOther(const std::string& path)
    {
        openOther(session, { path, std::nullopt });
        return ready() && session.snapshot()->other;
    }
    template <class Panel> Panel& panel() { return *window.findChild<Panel*>(); }
    TablePanel& table(const char* name) { return *window.findChild<TablePanel*>(QLatin1String(name)); }
    QStringList columnsOf(const char* name)
    {
        QStringList titles;
        TablePanel& panel = table(name);
        for (int column = 0; column < panel.model()->columnCount(); ++column)
            if (!panel.table()->isColumnHidden(column))
                titles << panel.model()->column(column).title;
        return titles;
    }
    bool seen(const char* name)
    {
        return QTest::qWaitFor([&] { return window.findChild<Panel*>(QLatin1String(name))->lookedAt(); }, kPatience);
    }
};

/// The chip of a panel's header with that text; null: it has none.
QPushButton* chipOf(QWidget& panel, const QString& text)
{
    for (QPushButton* button : panel.findChildren<QPushButton*>())
        if (button->text() == text)
            return button;
    return nullptr;
}

} // namespace

class TestSecondSide : public QObject {
    Q_OBJECT
private slots:
    void initTestCase()
    {
        QCoreApplication::setApplicationName(QStringLiteral("quantscope-test"));
        setUpApplication(*qApp);
    }

    void choosingItOpensWhereItIsSeen_data()
    {
        QTest::addColumn<int>("layout");
        for (const LayoutName name :
            { LayoutName::Inspect, LayoutName::Compare, LayoutName::WhatIf, LayoutName::Teach })
            QTest::addRow("layout %d", int(name)) << int(name);
    }
    void choosingItOpensWhereItIsSeen()
    {
        QFETCH(int, layout);
        Window w;
        QVERIFY(w.ready());
        w.window.layoutOfPanels().apply(LayoutName(layout));
        QVERIFY(w.chooseOther(kGood));
        QVERIFY(w.seen("difference"));
        const auto infos = w.table("difference").header()->findChildren<QLabel*>(QStringLiteral("panelInfo"));
        QCOMPARE(infos.size(), 2);
        QVERIFY(infos[0]->text().startsWith(QStringLiteral("A "))); // the names, which alone are cut
        QVERIFY(QRegularExpression(QStringLiteral("^\\d+ of \\d+ tensors differ$")).match(infos[1]->text()).hasMatch());
        QVERIFY(w.seen("graph-2"));
        w.window.layoutOfPanels().apply(LayoutName::Inspect); // the user's choice stays
        openData(w.session, QString::fromStdString(kExamples + "digits_samples.npz"));
        QVERIFY(w.ready());
        QVERIFY(!w.window.findChild<Panel*>(QStringLiteral("difference"))->lookedAt());
    }

    /// Below A's strip of channels stands B's, and one click takes it away.
    void channelsShowBoth()
    {
        Window w;
        QVERIFY(w.ready());
        QVERIFY(w.window.showView(QStringLiteral("channels")));
        QVERIFY(w.chooseOther(kGood));
        auto& panel = w.panel<ChannelsPanel>();
        const auto twoStrips = [&panel] {
            const auto& channels = panel.chart().data().channels;
            return !channels.empty() && channels.front().below.isValid();
        };
        QVERIFY(QTest::qWaitFor(twoStrips, kPatience));
        QVERIFY(panel.chart().data().channels.front().text.contains(QStringLiteral("B: SQNR")));
        QVERIFY(panel.chart().data().xLabel.contains(QStringLiteral("A above B")));
        QVERIFY(w.window.showView(QStringLiteral("channels"))); // the new B raised other panels
        QPushButton* other = chipOf(*panel.header(), QStringLiteral("B"));
        QVERIFY(other && !other->isHidden());
        QTest::mouseClick(other, Qt::LeftButton);
        QVERIFY(!panel.chart().data().channels.empty() && !twoStrips());
        openOther(w.session, {});
        QVERIFY(w.ready());
        QVERIFY(QTest::qWaitFor([&] { return other->isHidden(); }, kPatience));
    }

    /// The map is of A, of B or of the difference.
    void errorMapOfBoth()
    {
        Window w;
        QVERIFY(w.ready());
        QVERIFY(w.window.showView(QStringLiteral("error-map")));
        auto& panel = w.panel<ErrorMapPanel>();
        QVERIFY(QTest::qWaitFor([&] { return !panel.map().data().values.empty(); }, kPatience));
        QVERIFY(chipOf(*panel.header(), QStringLiteral("B"))->isHidden());
        QVERIFY(w.chooseOther(kGood));
        QVERIFY(w.window.showView(QStringLiteral("error-map")));
        QVERIFY(QTest::qWaitFor([&] { return !chipOf(*panel.header(), QStringLiteral("B"))->isHidden(); }, kPatience));
        const std::vector<double> first = panel.map().data().values;
        QTest::mouseClick(chipOf(*panel.header(), QStringLiteral("B")), Qt::LeftButton);
        const std::vector<double> second = panel.map().data().values;
        QVERIFY(first.size() == second.size() && first != second);
        QTest::mouseClick(chipOf(*panel.header(), QStringLiteral("B − A")), Qt::LeftButton);
        const HeatData& difference = panel.map().data();
        QCOMPARE(difference.values.size(), first.size());
        QCOMPARE(difference.values[0], second[0] - first[0]);
        QCOMPARE(difference.low, -difference.high);
        QVERIFY(difference.valueName.contains(QStringLiteral("B − A")));
        QCOMPARE(panel.bands().data().series.size(), size_t(2));
    }

    /// What came to the front for B gives way once B is gone.
    void viewsOfBGiveWay()
    {
        Window w;
        QVERIFY(w.ready());
        w.window.show();
        const auto inFront = [&](const char* name) {
            const QWidget* panel = w.window.findChild<QWidget*>(QLatin1String(name));
            return panel && !panel->visibleRegion().isEmpty();
        };
        QVERIFY(w.window.showView(QStringLiteral("tensors")));
        QVERIFY(QTest::qWaitFor([&] { return inFront("tensors"); }));
        const bool second = inFront("graph-2");
        QVERIFY(w.chooseOther(kGood));
        QVERIFY(QTest::qWaitFor([&] { return inFront("difference") && inFront("graph-2"); }));
        QVERIFY(!inFront("tensors"));
        openOther(w.session, {});
        QVERIFY(w.ready());
        QVERIFY2(QTest::qWaitFor([&] { return inFront("tensors") && inFront("graph-2") == second; }),
            qPrintable(QStringLiteral("tensors %1, second graph %2, was %3")
                           .arg(inFront("tensors"))
                           .arg(inFront("graph-2"))
                           .arg(second)));
        // Another panel that was chosen meanwhile stays.
        QVERIFY(w.chooseOther(kGood));
        QVERIFY(w.window.showView(QStringLiteral("weights")));
        openOther(w.session, {});
        QVERIFY(w.ready());
        QVERIFY(QTest::qWaitFor([&] { return inFront("weights"); }));
    }

    /// The caption says how the rows are sorted.
    void captionSaysTheOrder()
    {
        Window w;
        QVERIFY(w.ready());
        TablePanel& tensors = w.table("tensors");
        const auto caption = [&] {
            QString text;
            for (const QLabel* label : tensors.header()->findChildren<QLabel*>(QStringLiteral("panelInfo")))
                text += label->toolTip() + label->text();
            return text;
        };
        QVERIFY2(caption().contains(QStringLiteral("worst first")), qPrintable(caption()));
        tensors.sortWorstFirst(0);
        QVERIFY2(caption().contains(QStringLiteral("by tensor")), qPrintable(caption()));
        tensors.sortWorstFirst(tensors.model()->columnOf(Metric::Accumulated));
        QVERIFY2(caption().contains(QStringLiteral("worst first")), qPrintable(caption()));
    }

    /// Every table gets its columns with B, and loses them with one click.
    void tablesShowBothAndForget()
    {
        Window w;
        QVERIFY(w.ready());
        auto& chip = w.panel<OtherChip>();
        QVERIFY(!chip.isVisible());
        const char* const names[] = { "tensors", "weights", "outputs", "samples" };
        for (const char* name : names)
            QVERIFY2(w.columnsOf(name).filter(QRegularExpression(QStringLiteral("\\bB\\b"))).isEmpty(), name);
        QVERIFY(w.chooseOther(kGood));
        QVERIFY(chip.isVisible());
        QVERIFY(chip.name()->accessibleName().contains(QStringLiteral("digits_qdq.onnx")));
        for (const char* name : { "tensors", "weights" })
            QVERIFY2(
                w.columnsOf(name).contains(QStringLiteral("B")) && w.columnsOf(name).contains(QStringLiteral("B − A")),
                name);
        QVERIFY(w.columnsOf("outputs").contains(QStringLiteral("B, dB")));
        QVERIFY(w.columnsOf("samples").contains(QStringLiteral("flips")));
        const Comparison &a = *w.session.comparison(), &b = *w.session.snapshot()->other->snapshot->comparison;
        for (const ActivationRow& row : a.activations) {
            QVERIFY(row.other);
            QCOMPARE(row.other->sqnrDb, b.activations[row.other->row].accumulated.sqnrDb);
            QCOMPARE(b.activations[row.other->row].name, row.name);
        }
        QTest::mouseClick(chip.off(), Qt::LeftButton);
        QVERIFY(w.ready());
        QVERIFY(!w.session.snapshot()->other && !chip.isVisible());
        QVERIFY(!statusText(w.session).contains(QStringLiteral(" 0.0 ms"))); // nothing ran
        for (const char* name : names)
            QVERIFY2(w.columnsOf(name).filter(QRegularExpression(QStringLiteral("\\bB\\b"))).isEmpty(), name);
        QVERIFY(!w.session.comparison()->activations.front().other);
    }

    void plotsShowBoth()
    {
        Window w;
        QVERIFY(w.ready());
        const auto row = [&] {
            const auto& rows = w.session.comparison()->activations;
            return size_t(std::ranges::find_if(rows, [](const auto& r) { return r.quantizer && r.opType == "Conv"; })
                - rows.begin());
        };
        w.session.selection().selectActivation(row() < w.session.comparison()->activations.size() ? row() : 0);
        HistogramPlot& plot = w.panel<DistributionPanel>().plot();
        LineChart& chart = *w.panel<LayerChartPanel>().findChild<LineChart*>();
        const auto bins = plot.data().series.size(), lines = chart.data().series.size();
        QVERIFY(w.chooseOther(kGood));
        QCOMPARE(plot.data().series.size(), bins + 1);
        QCOMPARE(chart.data().series.size(), lines + 1);
        w.session.selection().selectWeight(0);
        QVERIFY(plot.data().series.back().name.startsWith(u'B'));
        openOther(w.session, {});
        QVERIFY(w.ready());
        QCOMPARE(chart.data().series.size(), lines);
    }

    /// The margins of B stand in the scatter, and its outputs beside those of A.
    void samplesShowBoth()
    {
        Window w;
        QVERIFY(w.ready());
        QVERIFY(w.window.showView(QStringLiteral("samples")));
        auto& panel = w.panel<SamplesPanel>();
        QVERIFY(panel.scatter().data().others.empty());
        QVERIFY(w.chooseOther(kGood));
        QVERIFY(w.window.showView(QStringLiteral("samples"))); // the new B raised other panels
        const Comparison &a = *w.session.comparison(), &b = *w.session.snapshot()->other->snapshot->comparison;
        const PointData& points = panel.scatter().data();
        QCOMPARE(points.others.size(), points.points.size());
        size_t flipped = 0;
        for (size_t i = 0; i < points.others.size(); ++i) {
            QCOMPARE(points.others[i].x, a.floatMargin[i]);
            QCOMPARE(points.others[i].y, b.quantMargin[i]);
            QCOMPARE(points.others[i].stands, a.floatClass[i] != b.quantClass[i]);
            flipped += a.floatClass[i] != a.quantClass[i];
        }
        QVERIFY(points.points[0].text.contains(QStringLiteral("\nB: class")));
        QVERIFY(panel.scatter().csv().startsWith(QStringLiteral("x,A,B,text\n")));
        const size_t flips
            = size_t(std::ranges::find_if(points.points, &PointData::Point::stands) - points.points.begin());
        QCOMPARE(flips == points.points.size(), flipped == 0);
        emit panel.scatter().itemChosen(flipped > 0 ? flips : 0);
        QTRY_VERIFY_WITH_TIMEOUT(panel.chosen().facts() && panel.chosen().facts()->b, kPatience);
        const SampleFacts& facts = *panel.chosen().facts();
        QCOMPARE(facts.a.outputs[0].x, facts.b->outputs[0].x);
        QVERIFY(facts.a.outputs[0].y != facts.b->outputs[0].y);
        const QString text = panel.chosen().text();
        QVERIFY2(
            text.contains(QStringLiteral(">A&nbsp;")) && text.contains(QStringLiteral(">B&nbsp;")), qPrintable(text));
        QCOMPARE(text.contains(QStringLiteral("A flips")), flipped > 0);
        QCOMPARE(panel.chosen().pictures().pictures().size(), size_t(1)); // the input is the same
        openOther(w.session, {});
        QVERIFY(w.ready());
        QVERIFY(panel.scatter().data().others.empty());
        QTRY_VERIFY_WITH_TIMEOUT(panel.chosen().facts() && !panel.chosen().facts()->b, kPatience);
    }

    void theGraphIsColouredByTheDifference()
    {
        Window w;
        QVERIFY(w.ready());
        QVERIFY(w.chooseOther(kGood));
        w.session.setMetric(Metric::OtherGain);
        const GraphLook& look = w.window.graph().canvas().look();
        QVERIFY(std::ranges::any_of(look.boxes, [](const auto& box) { return box.number.startsWith(u'+'); }));
        openOther(w.session, {});
        QVERIFY(w.ready());
        QCOMPARE(w.session.metric(), Metric::Accumulated);
    }

    /// The second pane draws B, and a click there selects the same value in A.
    void theSecondGraphIsTheOthers()
    {
        Window w;
        QVERIFY(w.ready());
        auto* second = w.window.findChild<GraphPanel*>(QStringLiteral("graph-2"));
        QVERIFY(w.chooseOther(kGood));
        QVERIFY(w.seen("graph-2"));
        QVERIFY(w.ready());
        QTRY_VERIFY(second->canvas().scene());
        QCOMPARE(second->side(), Side::Quantized);
        const Comparison& a = *w.session.comparison();
        for (size_t row = 0; row < a.activations.size(); ++row) {
            w.session.selection().selectActivation(row);
            QVERIFY2(second->canvas().look().selected, a.activations[row].name.c_str());
            const uint32_t box = *second->canvas().look().selected;
            w.session.selection().clear();
            emit second->canvas().boxChosen(box);
            QVERIFY(w.session.selection().current().activation);
        }
        openOther(w.session, {});
        QVERIFY(w.ready());
        QCOMPARE(second->side(), Side::Float);
    }

    /// Groups, neighbourhoods and several chosen boxes of B are the second pane's own.
    void theSecondGraphHasItsOwnView()
    {
        Window w;
        QVERIFY(w.ready());
        auto* second = w.window.findChild<GraphPanel*>(QStringLiteral("graph-2"));
        QVERIFY(w.chooseOther(kGood));
        QVERIFY(w.seen("graph-2"));
        QVERIFY(w.ready());
        QTRY_VERIFY(second->canvas().scene());
        const size_t ofA = w.window.graph().canvas().scene()->boxCount(), ofB = second->canvas().scene()->boxCount();
        const auto& rows = w.session.comparison()->activations;
        w.session.selection().selectActivation(rows.size() / 2);
        second->setAround(Neighbourhood { 1 });
        QTRY_VERIFY(second->canvas().scene()->boxCount() < ofB);
        QVERIFY(second->canvas().look().selected);
        QCOMPARE(w.window.graph().canvas().scene()->boxCount(), ofA);
        w.session.selection().selectActivation(1); // elsewhere: the middle follows
        QTRY_VERIFY(second->canvas().look().selected);
        second->setAround(std::nullopt);
        QTRY_COMPARE(second->canvas().scene()->boxCount(), ofB);

        second->setGroupBy(GroupBy::Names);
        QVERIFY(w.ready());
        second->setAllClosed(true);
        QVERIFY(w.ready());
        const size_t closed = second->canvas().scene()->boxCount();
        const BoxLook& box = second->canvas().look().boxes[*second->canvas().look().selected];
        QVERIFY(closed <= ofB && !box.number.isEmpty());
        QVERIFY(!box.quantized); // no edit changes B
        emit second->canvas().boxesChosen({ 0, 1 });
        QVERIFY(second->severalChosen());
        const int steps = w.session.recipe().stack().index();
        QVERIFY(second->toggleSelected());
        QCOMPARE(w.session.recipe().stack().index(), steps);
    }

    void aAndBChangePlaces()
    {
        Window w;
        QVERIFY(w.ready());
        QVERIFY(w.chooseOther(kGood));
        const Number a = w.session.comparison()->outputs.front().similarity.sqnrDb;
        const Number b = w.session.comparison()->outputs.front().other->sqnrDb;
        QVERIFY(a && b && *b > *a);
        QTest::mouseClick(w.panel<OtherChip>().swap(), Qt::LeftButton);
        QVERIFY(w.ready());
        QCOMPARE(w.session.snapshot()->inputs.quantPath, kGood);
        QCOMPARE(w.session.snapshot()->inputs.other.path, kNarrow);
        QCOMPARE(w.session.comparison()->outputs.front().similarity.sqnrDb, b);
        QCOMPARE(w.session.comparison()->outputs.front().other->sqnrDb, a);
    }

    void runsStandSideBySide()
    {
        Window w;
        QVERIFY(w.ready());
        Recipe next = w.session.recipe().recipe();
        next.reduceRange = !next.reduceRange;
        w.session.recipe().apply(QStringLiteral("Reduce"), next);
        QVERIFY(w.ready());
        QVERIFY(w.window.showView(QStringLiteral("runs")));
        auto& runs = w.panel<RunsPanel>();
        QCOMPARE(runs.model().rowCount(), 1);
        runs.tree()->setCurrentIndex(runs.model().index(0, 0)); // the imported one
        QAction* show = nullptr;
        for (QAction* action : runs.tree()->actions())
            if (action->text() == QStringLiteral("Show as B"))
                show = action;
        QVERIFY(show && show->isEnabled());
        show->trigger();
        QVERIFY(w.ready());
        QVERIFY(w.session.snapshot()->other);
        QCOMPARE(w.session.snapshot()->inputs.other.path, kNarrow);
        swapWithOther(w.session);
        QVERIFY(w.ready());
        QCOMPARE(w.session.snapshot()->inputs.quantPath, kNarrow);
        QVERIFY(w.session.snapshot()->inputs.other.recipe);
        QCOMPARE(w.session.snapshot()->inputs.other.recipe->reduceRange, next.reduceRange);
        QCOMPARE(w.panel<OtherChip>().name()->accessibleName(), QStringLiteral("B: Reduce"));
    }

    void filesOfOneNameAreToldApart()
    {
        Window w;
        QVERIFY(w.ready());
        QTemporaryDir folder;
        const QString copy = folder.filePath(QFileInfo(QString::fromStdString(kNarrow)).fileName());
        QVERIFY(QFile::copy(QString::fromStdString(kNarrow), copy));
        QVERIFY(w.chooseOther(copy.toStdString()));
        const ComparedNames names = comparedNames(*w.session.snapshot(), w.session.runs().tree());
        QVERIFY(names.a != names.b);
        QVERIFY(copy.endsWith(names.b));
        QVERIFY(w.panel<OtherChip>().name()->accessibleName().contains(QFileInfo(folder.path()).fileName()));
    }

    /// A chosen row selects the float tensor that its node makes, which all other panels show.
    static void chooseEachNode(Window& w, SaturationPanel& panel)
    {
        QTableView* table = panel.table();
        for (int row = 0; row < table->model()->rowCount(); ++row) {
            QTest::mouseClick(
                table->viewport(), Qt::LeftButton, {}, table->visualRect(table->model()->index(row, 0)).center());
            QVERIFY(w.session.selectedActivation());
            QCOMPARE(table->currentIndex().row(), row);
        }
    }

    /// From the empty panel one click runs the arithmetic; remedies are measured, and one is applied.
    void saturationIsALaboratory()
    {
        Window w;
        QVERIFY(w.ready());
        QVERIFY(w.window.showView(QStringLiteral("saturation")));
        auto& panel = w.panel<SaturationPanel>();
        QTRY_VERIFY(panel.switchButton()->isVisible());
        QVERIFY(!panel.tabs()->isVisible());
        QTest::mouseClick(panel.switchButton(), Qt::LeftButton);
        QVERIFY(w.ready());
        QCOMPARE(w.session.snapshot()->inputs.profile, ArithmeticProfile::IntegerAvx2);
        QVERIFY(!panel.switchButton()->isVisible());
        if (panel.model()->rowCount() == 0)
            QSKIP("the example has no product that can saturate");
        QVERIFY(panel.tabs()->isVisible());
        QS_HELPER(chooseEachNode(w, panel));
        QTRY_VERIFY(panel.arithmetics()->model()->rowCount() > 3);
        const QAbstractItemModelTester tester(panel.remedies()->model());
        QVERIFY(!panel.worstPair().isEmpty());
        if (!panel.measureButton()->isEnabled())
            return;
        panel.tabs()->setCurrentIndex(2);
        QTest::mouseClick(panel.measureButton(), Qt::LeftButton);
        QVERIFY(w.ready());
        QVERIFY(panel.remedies()->model()->rowCount() > 2);
        panel.remedies()->setCurrentIndex(panel.remedies()->model()->index(0, 0));
        QVERIFY(panel.applyButton()->isEnabled());
        const int steps = w.session.recipe().stack().count();
        QTest::mouseClick(panel.applyButton(), Qt::LeftButton);
        QCOMPARE(w.session.recipe().stack().count(), steps + 1);
        QVERIFY(w.ready());
    }
};

QTEST_MAIN(TestSecondSide)
#include "test_second_side.moc"
