// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/views/support/shown_graph.h"
#include "widgets/plots/histogram_plot.h"
#include "widgets/plots/line_chart.h"
#include "widgets/session/shown/search_names.h"
#include "widgets/views/detail/distribution_data.h"
#include "widgets/views/detail/distribution_panel.h"
#include "widgets/views/detail/layer_chart_panel.h"
#include "widgets/views/graph/graph_numbers.h"

#include <QAbstractButton>
#include <QCheckBox>
#include <QElapsedTimer>
#include <QLineEdit>
#include <QSignalSpy>
#include <QTemporaryDir>

#include <numeric>

using namespace qs;
using namespace qs::test;

class TestGraphViews : public QObject {
    Q_OBJECT
private slots:
    void emptySessionsSayWhatToDo();
    void graphIsLaidOutAndColoured();
    void rawShowsMoreBoxes();
    void floatGraphIsShownOnDemand();
    void clickSelectsAndSelectionShows();
    void keysWalkAlongTheEdges();
    void wheelZoomsToThePointer();
    void spaceFits();
    void searchFindsTensorsAndNodes();
    void plumbingMarksTheBoxThatUsesIt();
    void insideMarksTheBoxAround();
    void whatHasNoPartnerMarksNothingElse();
    void savesPictures();
    void theHeaderNamesTheFoldingAtEachWidth();
    void themeIsFollowed();
    void largeGraphsPaintQuickly();
    void distributionKeepsAllCounts();
    void distributionExplainsItself();
    void layerChartFollowsAndSets();
};

void TestGraphViews::emptySessionsSayWhatToDo()
{
    SmallSession small;
    RecipeView recipe(small.session);
    GraphPanel graph(small.session, recipe);
    DistributionPanel distribution(small.session, small.session.recipe());
    LayerChartPanel chart(small.session);
    for (QWidget* panel : std::initializer_list<QWidget*> { &graph, &distribution, &chart }) {
        panel->resize(400, 300);
        panel->show();
        QVERIFY(!panel->grab().isNull());
    }
    QVERIFY(!graph.canvas().scene());
    QVERIFY(!distribution.plot().data().emptyText.isEmpty());
    QVERIFY(!chart.chart().data().emptyText.isEmpty());
}

void TestGraphViews::graphIsLaidOutAndColoured()
{
    ShownGraph shown;
    QVERIFY(shown.load());
    QCOMPARE(shown.panel.side(), Side::Quantized);
    QCOMPARE(shown.scene().boxCount(), size_t(4)); // x, Conv, Relu, y
    const BoxLook& conv = shown.panel.canvas().look().boxes[shown.boxOf("conv_dq")];
    QVERIFY(conv.fill.isValid());
    QVERIFY(conv.number.contains("12.0"));
    QCOMPARE(shown.scene().graph().edges[0].badge, std::string("u8 .5 z128"));
    QVERIFY(!shown.panel.grab().isNull());
    const auto tip = boxToolTip(*shown.small.session.snapshot(), Side::Quantized, shown.scene().graph(), 1);
    QVERIFY(tip.contains("conv_1"));
}

void TestGraphViews::rawShowsMoreBoxes()
{
    ShownGraph shown;
    QVERIFY(shown.load());
    shown.panel.setMode(FoldMode::Raw);
    QVERIFY(shown.wait());
    QCOMPARE(shown.scene().boxCount(), shown.small.quantGraph().nodes().size() + 2);
    shown.panel.setMode(FoldMode::Folded);
    QVERIFY(shown.wait());
    QCOMPARE(shown.scene().boxCount(), size_t(4));
}

void TestGraphViews::floatGraphIsShownOnDemand()
{
    ShownGraph shown;
    QVERIFY(shown.load());
    shown.panel.setSide(Side::Float);
    QVERIFY(shown.wait());
    QCOMPARE(shown.scene().boxCount(), size_t(4));
    for (const DisplayEdge& edge : shown.scene().graph().edges)
        QVERIFY(edge.badge.empty());
}

void TestGraphViews::clickSelectsAndSelectionShows()
{
    ShownGraph shown;
    QVERIFY(shown.load());
    const uint32_t conv = shown.boxOf("conv_dq");
    QTest::mouseClick(&shown.panel.canvas(), Qt::LeftButton, {}, shown.onScreen(conv).toPoint());
    QCOMPARE(shown.small.session.selection().current().activation, std::optional<size_t>(1));
    QCOMPARE(shown.panel.canvas().look().selected, std::optional(conv));
    shown.small.session.selection().selectActivation(2);
    QCOMPARE(shown.panel.canvas().look().selected, std::optional(shown.boxOf("y")));
    shown.panel.setSide(Side::Float);
    QVERIFY(shown.wait());
    QCOMPARE(shown.scene().graph().boxes[*shown.panel.canvas().look().selected].title, std::string("Relu relu_1"));
}

void TestGraphViews::keysWalkAlongTheEdges()
{
    ShownGraph shown;
    QVERIFY(shown.load());
    GraphCanvas& canvas = shown.panel.canvas();
    shown.small.session.selection().selectActivation(1);
    const uint32_t conv = *canvas.look().selected;
    QTest::keyClick(&canvas, Qt::Key_Down);
    QVERIFY(canvas.look().selected != std::optional(conv));
    QTest::keyClick(&canvas, Qt::Key_Up);
    QCOMPARE(canvas.look().selected, std::optional(conv));
}

void TestGraphViews::wheelZoomsToThePointer()
{
    ShownGraph shown;
    QVERIFY(shown.load());
    GraphCanvas& canvas = shown.panel.canvas();
    const QPointF pointer(200, 150);
    const auto under = [&] { return canvas.visibleArea().topLeft() + pointer / canvas.zoom(); };
    const QPointF before = under();
    const double zoom = canvas.zoom();
    QWheelEvent wheel(pointer, canvas.mapToGlobal(pointer), {}, { 0, 240 }, Qt::NoButton, {}, Qt::NoScrollPhase, false);
    QApplication::sendEvent(&canvas, &wheel);
    QVERIFY(canvas.zoom() > zoom);
    QVERIFY((under() - before).manhattanLength() < 1e-6);
}

void TestGraphViews::spaceFits()
{
    ShownGraph shown;
    QVERIFY(shown.load());
    GraphCanvas& canvas = shown.panel.canvas();
    canvas.centreOn({ 0, 0 });
    QTest::keyClick(&canvas, Qt::Key_Plus);
    QTest::keyClick(&canvas, Qt::Key_Space);
    QVERIFY(canvas.visibleArea().adjusted(-1, -1, 1, 1).contains(shown.scene().bounds()));
}

void TestGraphViews::searchFindsTensorsAndNodes()
{
    ShownGraph shown;
    QVERIFY(shown.load());
    shown.panel.openSearch();
    auto* edit = shown.panel.findChild<QLineEdit*>();
    QVERIFY(edit);
    edit->setText("CONV_1");
    QCOMPARE(shown.panel.matches(), std::vector<uint32_t> { shown.boxOf("conv_dq") });
    QTest::keyClick(edit, Qt::Key_Return);
    QCOMPARE(shown.small.session.selection().current().activation, std::optional<size_t>(1));
    edit->setText("nothing of that name");
    QVERIFY(shown.panel.matches().empty());
    QTest::keyClick(edit, Qt::Key_Escape);
    QVERIFY(!shown.panel.canvas().look().searching);
}

void TestGraphViews::plumbingMarksTheBoxThatUsesIt()
{
    ShownGraph shown;
    QVERIFY(shown.load());
    for (const char* name : { "s", "z", "w", "conv_Q", "conv_q", "conv_DQ" }) {
        shown.small.session.selection().clear();
        QVERIFY2(!shown.panel.canvas().look().selected, name);
        QVERIFY2(shown.small.session.selection().selectByName(name), name);
        QVERIFY2(shown.panel.canvas().look().selected, name);
    }
    QStringList names;
    for (const NamedPlace& place : searchNames(*shown.small.session.snapshot()))
        names << place.name;
    QVERIFY(names.indexOf("conv_1") < names.indexOf("s"));
    QVERIFY(names.indexOf("conv") < names.indexOf("w"));
    QVERIFY(names.indexOf("w") < names.indexOf("conv_Q"));
}

void TestGraphViews::insideMarksTheBoxAround()
{
    SmallSession small;
    QVERIFY(small.load());
    const auto snapshot = std::make_shared<Snapshot>(*small.session.snapshot());
    const LoadedModel& quant = *snapshot->quantModel;
    const auto plan = quant.plan;
    const FoldedGraph graph = foldGraph(
        quant.graph(), *quant.quant, [plan](ValueId id) { return plan->constant(id); }, {}, FoldMode::Folded);
    Place place; // of the Convolution's output, without numbers
    place.node = snapshot->floatModel->graph().findNode("conv_1");
    place.value = snapshot->floatModel->graph().node(place.node).outputs[0];
    const NodeId around = quant.graph().findNode("relu_1");
    Alignment alignment;
    alignment.insideFloat = { { place.value, around } };
    snapshot->alignment = std::make_shared<const Alignment>(alignment);
    QVERIFY(graph.box(around));
    QCOMPARE(boxOfPlace(*snapshot, Side::Quantized, graph, place), graph.box(around));
}

/// A reader far behind it may have the same name in both files and is something else all the same.
void TestGraphViews::whatHasNoPartnerMarksNothingElse()
{
    SmallSession small(3);
    QVERIFY(small.load());
    const auto snapshot = std::make_shared<Snapshot>(*small.session.snapshot());
    GraphDraft draft(snapshot->floatModel->model);
    for (DraftNode& node : draft.nodes)
        if (&node != &draft.nodes.back())
            node.name = "other/" + node.name;
    const auto renamed = draft.build();
    QVERIFY(renamed.ok());
    snapshot->floatModel = loadedModel(*renamed);
    snapshot->comparison.reset();
    const LoadedModel& quant = *snapshot->quantModel;
    const auto plan = quant.plan;
    const FoldedGraph graph = foldGraph(
        quant.graph(), *quant.quant, [plan](ValueId id) { return plan->constant(id); }, {}, FoldMode::Folded);
    const Graph& floats = snapshot->floatModel->graph();
    QVERIFY(graph.box(quant.graph().findNode(draft.nodes.back().name)));
    Place place;
    place.node = floats.findNode("other/conv_1");
    QVERIFY(place.node.valid());
    place.value = floats.node(place.node).outputs[0];
    QVERIFY(!boxOfPlace(*snapshot, Side::Quantized, graph, place));
    Place input;
    input.value = floats.inputs().front();
    QCOMPARE(boxOfPlace(*snapshot, Side::Quantized, graph, input), graph.box(quant.graph().inputs().front()));
}

void TestGraphViews::savesPictures()
{
    ShownGraph shown;
    QVERIFY(shown.load());
    QTemporaryDir folder;
    for (const char* suffix : { "svg", "png", "pdf" }) {
        const QString path = folder.filePath(QString("graph.") + suffix);
        QVERIFY(shown.panel.exportTo(path));
        QVERIFY(QFileInfo(path).size() > 500);
    }
    QVERIFY(!shown.panel.exportTo(folder.filePath("graph.xyz")));
    QVERIFY(!shown.panel.exportTo("/nonexistent-folder/graph.svg"));
}

void TestGraphViews::theHeaderNamesTheFoldingAtEachWidth()
{
    ShownGraph shown;
    QVERIFY(shown.load());
    const auto* fold = shown.panel.header()->findChild<QCheckBox*>();
    for (const auto& [width, text] : { std::pair(900, "fold Q/DQ"), { 200, "fold" }, { 900, "fold Q/DQ" } }) {
        shown.panel.resize(width, 480); // no narrower than its least width
        QTRY_COMPARE(fold->text(), QString(text));
        QTRY_VERIFY(fold->width() >= fold->sizeHint().width());
    }
}

void TestGraphViews::themeIsFollowed()
{
    ShownGraph shown;
    QVERIFY(shown.load());
    shown.small.session.setTheme(Theme::darkOne());
    QVERIFY(shown.panel.canvas().look().theme.dark);
    const QImage picture = shown.panel.canvas().grab().toImage();
    QCOMPARE(picture.pixelColor(picture.width() - 3, 3), Theme::darkOne().panel);
}

void TestGraphViews::largeGraphsPaintQuickly()
{
    SmallSession small(1666);
    RecipeView recipe(small.session);
    GraphPanel panel(small.session, recipe);
    panel.resize(1200, 800);
    panel.show();
    QElapsedTimer timer;
    timer.start();
    QVERIFY(small.load());
    QTRY_VERIFY_WITH_TIMEOUT(panel.canvas().scene() != nullptr, 20000);
    panel.canvas().fit();
    panel.grab();
    qInfo() << panel.canvas().scene()->boxCount() << "boxes shown after" << timer.elapsed() << "ms";
    const auto frames = [&](const char* what) {
        timer.restart();
        for (int i = 0; i < 20; ++i)
            panel.canvas().grab();
        qInfo() << what << double(timer.elapsed()) / 20 << "ms a frame";
    };
    frames("whole graph:");
    panel.canvas().focusSelection();
    for (int i = 0; i < 40; ++i)
        QTest::keyClick(&panel.canvas(), Qt::Key_Plus);
    frames("zoomed in:");
}

void TestGraphViews::distributionKeepsAllCounts()
{
    Histogram histogram;
    for (int i = -300; i < 300; ++i)
        for (int n = 0; n <= i % 7 + 7; ++n)
            histogram.add(float(i) * 0.05f);
    const auto sum = [](const HistogramSeries& s) { return std::accumulate(s.counts.begin(), s.counts.end(), 0.0); };
    for (const double factor : { 1.0, 4.0, 64.0 }) {
        const HistogramSeries merged = mergedBins(histogram, histogram.binWidth() * factor);
        QCOMPARE(merged.edges.size(), merged.counts.size() + 1);
        QCOMPARE(sum(merged), double(histogram.total()));
        const QuantParams params { DType::Int8, { 0.05f }, { 0 }, std::nullopt, 0 };
        const HistogramSeries codes = binsOfCodes(histogram, params, histogram.binWidth() * factor);
        QCOMPARE(codes.edges.size(), codes.counts.size() + 1);
        QCOMPARE(sum(codes), double(histogram.total()));
    }
    const HistogramSeries none = mergedBins(Histogram(), 1);
    QVERIFY(none.counts.empty());
}

void TestGraphViews::distributionExplainsItself()
{
    SmallSession small;
    DistributionPanel panel(small.session, small.session.recipe());
    panel.resize(400, 300);
    panel.show();
    QVERIFY(small.load());
    small.session.selection().clear();
    QCOMPARE(panel.plot().data().emptyText, QString("Select a tensor or a weight to see its values."));
    small.session.selection().selectActivation(1);
    const HistogramData& data = panel.plot().data();
    QCOMPARE(data.series.size(), size_t(3));
    QVERIFY2(data.representableLabel.contains("clips 25.0 %") || data.representableLabel.contains("clips 25 %"),
        qPrintable(data.representableLabel));
    QVERIFY2(data.representableLabel.contains("range −64 … 63.5"), qPrintable(data.representableLabel)); // not ±
    QVERIFY(data.representable.has_value());
    for (QAbstractButton* button : panel.findChildren<QAbstractButton*>())
        if (button->text() == "log y")
            button->click();
    QCOMPARE(panel.plot().scale(), AxisScale::Linear);
    Snapshot own = *small.session.snapshot();
    own.comparison->activations[1].floatClippedFraction = 0.5; // behind a damaged input
    const DistributionView view = distributionOf(own, small.session.selection().current(), Theme::light());
    QCOMPARE(view.data.representableLabel, QString("range −64 … 63.5 · clips 50.0 % of float · 25.0 % of quantized"));
    own.comparison->activations[1].floatClippedFraction = 0.25;
    QVERIFY(distributionOf(own, small.session.selection().current(), Theme::light())
                .data.representableLabel.endsWith(QString("clips 25.0 %")));
}

void TestGraphViews::layerChartFollowsAndSets()
{
    SmallSession small;
    LayerChartPanel panel(small.session);
    panel.resize(400, 300);
    panel.show();
    QVERIFY(small.load());
    QCOMPARE(panel.chart().data().items.size(), size_t(3));
    small.session.selection().selectActivation(1);
    QCOMPARE(panel.chart().chosen(), std::optional<size_t>(1));
    QTest::keyClick(&panel.chart(), Qt::Key_Right);
    QCOMPARE(small.session.selection().current().activation, std::optional<size_t>(2));
}

QTEST_MAIN(TestGraphViews)
#include "test_graph_views.moc"
