// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plots/channel_chart.h"
#include "widgets/plots/heat_map.h"
#include "widgets/plots/histogram_plot.h"
#include "widgets/plots/line_chart.h"
#include "widgets/plots/point_chart.h"
#include "widgets/plots/save_dialog.h"

#include <QFileDialog>
#include <QLabel>
#include <QMessageBox>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QtTest>

using namespace qs;

namespace {

HistogramData sampleHistogram()
{
    HistogramData data;
    HistogramSeries x { "float", {}, {}, QColor("#0072b2"), HistogramSeries::Look::Filled };
    for (int i = 0; i <= 100; ++i)
        x.edges.push_back(i * 0.2);
    for (int i = 0; i < 100; ++i)
        x.counts.push_back(std::floor(4000 * std::exp(-i / 15.0)));
    HistogramSeries y { "dequantized", { 0, 3, 6.1 }, { 30000, 9000 }, QColor("#e69f00"),
        HistogramSeries::Look::Outline };
    data.series = { x, y };
    data.representable = PlotRange { 0, 6.1 };
    data.representableLabel = "range 6.10 · clips 11.8 %";
    data.observed = PlotRange { 0, 19.7 };
    data.observedLabel = "observed 19.7";
    data.xLabel = "value before quantization";
    return data;
}

LineData sampleLines()
{
    const double gap = qQNaN();
    return { { "a", "b, c", "d", "e" },
        { { "accumulated", { 30, gap, 12, -5 }, QColor("#0072b2"), false, false },
            { "ideal", { 41, 40, 40, 39 }, Qt::gray, true, true } },
        "dB", {}, {}, "nothing" };
}

/// Things at 0, 1, 2 … of which one can be chosen.
class Steps : public ChoicePlot {
public:
    enum class Keys { Choose, Mark };
    Steps(Keys keys, size_t count)
        : ChoicePlot(keys == Keys::Choose ? Arrows::Choose : Arrows::Mark, nullptr)
        , m_count(count)
    {
    }
    QString csv() const override { return {}; }
    void setCount(size_t count)
    {
        m_count = count;
        itemsChanged();
    }
    std::optional<size_t> at(double x) const { return numberAt(x); }
    int marks() const { return m_marks; } ///< how often the mark was drawn

protected:
    void rebuild() override { }
    void fitAxes() override { }
    size_t itemCount() const override { return m_count; }
    std::optional<size_t> itemAt(double x, double) const override { return numberAt(x); }
    double xOf(size_t item) const override { return double(item); }
    QString itemText(size_t item) const override { return QString::number(item); }
    void markChosen() override
    {
        ++m_marks;
        markByLine();
    }

private:
    size_t m_count;
    int m_marks = 0;
};

QStringList g_messages; ///< what Qt and the plotting library said

void keepMessage(QtMsgType, const QMessageLogContext&, const QString& text) { g_messages << text; }

} // namespace

class TestPlots : public QObject {
    Q_OBJECT
private slots:
    void savesPictures_data();
    void savesPictures();
    void refusesWhatItCannotWrite();
    void histogramNumbers();
    void handlesOfWideRangesAreInSight();
    void lineNumbers();
    void emptyPlotsShowTheirText();
    void keysChooseItems();
    void keysStayWithinTheItems();
    void keysMarkForEnter();
    void choicesFollowTheItems();
    void clicksChooseItems();
    void selectionOutOfRangeIsDropped();
    void pointsAreMarkedAndChosen();
    void channelsAndMaps();
    void oneRowOfAMapIsPainted();
    void plotsWithoutRoomStaySilent();
    void drawsWhenPainted();
    void zoomSurvivesAnotherHeight();
    void ticksSuitTheNewSize();
    void asksWhereToSave();
};

void TestPlots::savesPictures_data()
{
    QTest::addColumn<QString>("suffix");
    QTest::addColumn<QByteArray>("head");
    QTest::newRow("png") << "png" << QByteArray("\x89PNG");
    QTest::newRow("svg") << "svg" << QByteArray("<?xml");
    QTest::newRow("pdf") << "pdf" << QByteArray("%PDF");
    QTest::newRow("csv") << "csv" << QByteArray("series,from,to,count");
}

void TestPlots::savesPictures()
{
    QFETCH(QString, suffix);
    QFETCH(QByteArray, head);
    HistogramPlot plot;
    plot.resize(420, 260);
    plot.setStyle({});
    plot.setData(sampleHistogram());
    plot.show();
    QTemporaryDir folder;
    const QString path = folder.filePath("plot." + suffix);
    QVERIFY(plot.exportTo(path));
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadOnly));
    QVERIFY(file.readAll().startsWith(head));
}

void TestPlots::refusesWhatItCannotWrite()
{
    HistogramPlot plot;
    plot.setData(sampleHistogram());
    QVERIFY(!plot.exportTo("plot.xyz"));
    QVERIFY(!plot.exportTo("/nonexistent-folder/plot.csv"));
}

void TestPlots::histogramNumbers()
{
    HistogramPlot plot;
    plot.setData(sampleHistogram());
    const QStringList lines = plot.csv().split('\n', Qt::SkipEmptyParts);
    QCOMPARE(lines.size(), 1 + 100 + 2);
    QCOMPARE(lines.last(), QString("dequantized,3,6.0999999999999996,9000"));
    plot.setScale(AxisScale::Linear);
    QCOMPARE(plot.scale(), AxisScale::Linear);
}

/// An end of a range that is far wider than the data can be taken hold of at the edge.
void TestPlots::handlesOfWideRangesAreInSight()
{
    HistogramData data = sampleHistogram();
    data.representable = PlotRange { 0, 1000 };
    data.movable = true;
    HistogramPlot plot;
    plot.resize(400, 300);
    plot.setData(data);
    plot.show();
    QVERIFY(QTest::qWaitForWindowExposed(&plot));
    std::vector<PlotRange> released;
    QObject::connect(&plot, &HistogramPlot::rangeReleased, &plot, [&](const PlotRange& to) { released.push_back(to); });
    auto* canvas = plot.findChild<QWidget*>(QStringLiteral("plotCanvas"));
    canvas = canvas ? canvas : static_cast<QWidget*>(plot.childAt(plot.rect().center()));
    QVERIFY(canvas);
    bool held = false;
    for (int x = canvas->width() - 1; x > canvas->width() / 2 && !held; --x) {
        QTest::mousePress(canvas, Qt::LeftButton, {}, QPoint(x, canvas->height() / 3));
        held = plot.dragging();
        if (held)
            QTest::mouseMove(canvas, QPoint(canvas->width() / 2, canvas->height() / 3));
        QTest::mouseRelease(canvas, Qt::LeftButton, {}, QPoint(canvas->width() / 2, canvas->height() / 3));
    }
    QVERIFY(held);
    QCOMPARE(released.size(), size_t(1));
    QVERIFY(released.front().second < 100);
}

void TestPlots::lineNumbers()
{
    LineChart chart;
    chart.setData(sampleLines());
    QCOMPARE(chart.csv(), QString("item,accumulated,ideal\na,30,41\n\"b, c\",,40\nd,12,40\ne,-5,39\n"));
}

void TestPlots::emptyPlotsShowTheirText()
{
    LineChart chart;
    LineData none;
    none.emptyText = "Open a model";
    chart.setData(none);
    chart.show();
    const auto labels = chart.findChildren<QLabel*>();
    QVERIFY(std::any_of(labels.begin(), labels.end(),
        [](const QLabel* label) { return label->isVisible() && label->text() == "Open a model"; }));
    QCOMPARE(chart.csv(), QString("item\n"));
}

void TestPlots::keysChooseItems()
{
    LineChart chart;
    chart.setData(sampleLines());
    QSignalSpy clicks(&chart, &LineChart::itemChosen);
    QTest::keyClick(&chart, Qt::Key_Right);
    QCOMPARE(chart.chosen(), std::optional<size_t>(0));
    QTest::keyClick(&chart, Qt::Key_Right);
    QTest::keyClick(&chart, Qt::Key_Left);
    QTest::keyClick(&chart, Qt::Key_Left);
    QCOMPARE(chart.chosen(), std::optional<size_t>(0));
    QCOMPARE(clicks.count(), 4);
}

void TestPlots::keysStayWithinTheItems()
{
    Steps steps(Steps::Keys::Choose, 3);
    QSignalSpy chosen(&steps, &ChoicePlot::itemChosen);
    QTest::keyClick(&steps, Qt::Key_Left); // with no choice yet: from the end
    QCOMPARE(steps.chosen(), std::optional<size_t>(2));
    QTest::keyClick(&steps, Qt::Key_Right);
    QCOMPARE(steps.chosen(), std::optional<size_t>(2));
    QCOMPARE(chosen.count(), 2);
    QCOMPARE(steps.marks(), 1); // the same again needs no new mark
    Steps nothing(Steps::Keys::Choose, 0);
    QTest::keyClick(&nothing, Qt::Key_Right);
    QVERIFY(!nothing.chosen());
    for (const auto& [x, item] : { std::pair(-0.6, -1), { -0.4, 0 }, { 1.4, 1 }, { 2.4, 2 }, { 2.6, -1 } })
        QCOMPARE(steps.at(x), item < 0 ? std::nullopt : std::optional(size_t(item)));
}

void TestPlots::keysMarkForEnter()
{
    Steps steps(Steps::Keys::Mark, 3);
    QSignalSpy chosen(&steps, &ChoicePlot::itemChosen);
    QTest::keyClick(&steps, Qt::Key_Return);
    QCOMPARE(chosen.count(), 0); // nothing is marked
    QTest::keyClick(&steps, Qt::Key_Right);
    QTest::keyClick(&steps, Qt::Key_Right);
    QCOMPARE(steps.chosen(), std::optional<size_t>(1));
    QCOMPARE(chosen.count(), 0);
    QTest::keyClick(&steps, Qt::Key_Enter);
    QCOMPARE(chosen.count(), 1);
    QCOMPARE(chosen[0][0].value<size_t>(), size_t(1));
}

void TestPlots::choicesFollowTheItems()
{
    Steps steps(Steps::Keys::Choose, 3);
    QSignalSpy chosen(&steps, &ChoicePlot::itemChosen);
    steps.setChosen(2);
    steps.setChosen(2);
    QCOMPARE(steps.marks(), 1);
    steps.setCount(3);
    QCOMPARE(steps.chosen(), std::optional<size_t>(2)); // it is still there
    steps.setCount(2);
    QVERIFY(!steps.chosen());
    steps.setChosen(2);
    QVERIFY(!steps.chosen());
    QCOMPARE(chosen.count(), 0); // nobody chose
}

void TestPlots::clicksChooseItems()
{
    LineChart chart;
    chart.resize(400, 240);
    chart.setStyle({});
    chart.setData(sampleLines());
    chart.show();
    QVERIFY(QTest::qWaitForWindowExposed(&chart));
    QTest::qWait(20);
    QSignalSpy clicks(&chart, &LineChart::itemChosen);
    QWidget* canvas = chart.childAt(200, 100);
    QVERIFY(canvas);
    QTest::mouseClick(canvas, Qt::LeftButton, {}, QPoint(200, 100));
    QCOMPARE(clicks.count(), 1);
    QVERIFY(chart.chosen() == std::optional<size_t>(1) || chart.chosen() == std::optional<size_t>(2));
}

void TestPlots::selectionOutOfRangeIsDropped()
{
    LineChart chart;
    chart.setData(sampleLines());
    chart.setChosen(3);
    QCOMPARE(chart.chosen(), std::optional<size_t>(3));
    chart.setChosen(4);
    QVERIFY(!chart.chosen());
}

void TestPlots::pointsAreMarkedAndChosen()
{
    PointChart chart;
    PointData data;
    data.joined = false;
    data.points = { { 1, 2, "a, b", false }, { 2, 3, "c", true } };
    data.lines = { { 0, 0, 3, 3 } };
    chart.resize(400, 240);
    chart.setData(data);
    const QImage picture = chart.grab().toImage(); // names are none and take no room: it is drawn to its right end
    bool drawn = false;
    for (int x = 300; x < 380; ++x)
        for (int y = 0; y < picture.height(); ++y)
            drawn = drawn || picture.pixel(x, y) != picture.pixel(399, 0);
    QVERIFY(drawn);
    QSignalSpy chosen(&chart, &PointChart::itemChosen);
    QTest::keyClick(&chart, Qt::Key_Right);
    QCOMPARE(chart.chosen(), std::optional<size_t>(0));
    QCOMPARE(chosen.count(), 0); // only marked
    QTest::keyClick(&chart, Qt::Key_Right);
    QTest::keyClick(&chart, Qt::Key_Return);
    QCOMPARE(chosen.count(), 1);
    QCOMPARE(chosen[0][0].toULongLong(), 1ULL);
    QCOMPARE(chart.csv(), QString("x,y,text\n1,2,\"a, b\"\n2,3,c\n"));
    chart.setData(data);
    QVERIFY(!chart.chosen());
}

void TestPlots::channelsAndMaps()
{
    ChannelChart channels;
    channels.resize(400, 240);
    ChannelData data;
    data.channels = { { -1, 1, {}, Qt::red, {}, "first" }, { -2, 3, PlotRange { -4, 4 }, Qt::red, {}, "second" },
        { 0, 0, {}, {}, {}, "third" } };
    channels.setData(data);
    channels.setStyle({});
    QTest::keyClick(&channels, Qt::Key_Left);
    QCOMPARE(channels.chosen(), std::optional<size_t>(2));
    data.channels.pop_back();
    channels.setData(data);
    QVERIFY(!channels.chosen());
    QCOMPARE(channels.csv(), QString("channel,low,high,text\n0,-1,1,first\n1,-2,3,second\n"));

    HeatMap map;
    HeatData cells;
    cells.rows = 2;
    cells.columns = 2;
    cells.values = { 0, 0.5, 1, qQNaN() };
    cells.rowStep = 3;
    map.setData(cells);
    map.setStyle({});
    QCOMPARE(map.csv(), QString("row,column,value\n0,0,0\n0,1,0.5\n3,0,1\n3,1,nan\n"));
    const QTemporaryDir folder;
    QVERIFY(map.exportTo(folder.filePath("map.png")));
    QVERIFY(channels.exportTo(folder.filePath("channels.svg")));
}

void TestPlots::oneRowOfAMapIsPainted()
{
    for (const auto& [rows, columns] : { std::pair<size_t, size_t>(1, 4), { 4, 1 }, { 1, 1 }, { 2, 2 } }) {
        HeatMap map;
        map.resize(400, 300);
        map.setStyle({});
        HeatData cells;
        cells.rows = rows;
        cells.columns = columns;
        cells.values.assign(rows * columns, 1);
        cells.colour = [](double) { return QColor(Qt::red); };
        map.setData(cells);
        const QImage image = map.grab().toImage().convertToFormat(QImage::Format_RGB32);
        size_t red = 0;
        for (int y = 0; y < image.height(); ++y)
            for (int x = 0; x < image.width(); ++x)
                red += image.pixelColor(x, y) == QColor(Qt::red);
        QVERIFY2(red * 3 > size_t(image.width()) * size_t(image.height()), qPrintable(QString::number(red)));
    }
}

void TestPlots::plotsWithoutRoomStaySilent()
{
    g_messages.clear();
    const QtMessageHandler before = qInstallMessageHandler(keepMessage);
    QWidget window;
    window.resize(400, 300);
    HistogramPlot plot(&window);
    plot.setStyle({});
    plot.setData(sampleHistogram());
    window.show();
    for (const QSize size : { QSize(300, 0), QSize(0, 200), QSize(300, 1), QSize(300, 200) }) {
        plot.resize(size);
        plot.resetView();
        QTest::qWait(1); // what was queued is painted
    }
    qInstallMessageHandler(before);
    QCOMPARE(g_messages.filter(QStringLiteral("painter")), QStringList());
}

/// The widget that the plotting library draws on.
static QWidget* canvasOf(const PlotWidget& plot)
{
    for (QWidget* child : plot.findChildren<QWidget*>())
        if (child->inherits("QCustomPlot"))
            return child;
    return nullptr;
}

void TestPlots::drawsWhenPainted()
{
    QWidget window;
    window.resize(500, 400);
    HistogramPlot plot(&window);
    plot.resize(300, 200);
    plot.setStyle({});
    plot.hide();
    window.show();
    QVERIFY(QTest::qWaitForWindowExposed(&window));
    QSignalSpy drawn(canvasOf(plot), SIGNAL(afterReplot()));
    plot.setData(sampleHistogram());
    plot.resize(310, 210);
    plot.resize(320, 220);
    QTest::qWait(1);
    QCOMPARE(drawn.count(), 0); // nobody sees it
    plot.show();
    plot.resetView();
    plot.resize(330, 230);
    QTRY_COMPARE(drawn.count(), 1); // once for all of it
    plot.setScale(AxisScale::Linear);
    QTRY_COMPARE(drawn.count(), 2);
}

void TestPlots::zoomSurvivesAnotherHeight()
{
    HistogramPlot plot;
    plot.resize(400, 300);
    plot.setStyle({});
    plot.setData(sampleHistogram());
    const QImage whole = plot.grab().toImage();
    QTest::keyClick(&plot, Qt::Key_Plus);
    const QImage zoomed = plot.grab().toImage();
    QVERIFY(zoomed != whole);
    plot.resize(400, 120); // too low for the text below the axis
    plot.grab();
    plot.resize(400, 300);
    QCOMPARE(plot.grab().toImage(), zoomed);
}

void TestPlots::ticksSuitTheNewSize()
{
    LineData data = sampleLines();
    data.ticks = { "first of them", "second of them", "third of them", "fourth of them" };
    LineChart wide, grown;
    wide.resize(700, 300);
    grown.resize(200, 120);
    for (LineChart* chart : { &wide, &grown }) {
        chart->setStyle({});
        chart->setData(data);
        chart->grab();
    }
    grown.resize(700, 300);
    QCOMPARE(grown.grab().toImage(), wide.grab().toImage());
}

void TestPlots::asksWhereToSave()
{
    const QTemporaryDir folder;
    QWidget window;
    QStringList written;
    for (const bool writable : { true, false }) {
        saveAs(&window, "Save as PNG", "png", [&](const QString& path) {
            written << path;
            return writable;
        });
        auto* dialog = window.findChild<QFileDialog*>();
        QVERIFY(dialog); // it does not block
        dialog->selectFile(folder.filePath("plot.txt"));
        static_cast<QDialog*>(dialog)->accept();
        QTRY_VERIFY(!window.findChild<QFileDialog*>());
        QCOMPARE(written.takeFirst(), folder.filePath("plot.txt.png"));
        QCOMPARE(window.findChild<QMessageBox*>() == nullptr, writable);
    }
    QVERIFY(window.findChild<QMessageBox*>()->text().contains("plot.txt.png"));
    delete window.findChild<QMessageBox*>();
    QStringList told;
    new WriteGuard(
        &window, [](const QString& path) { return path.endsWith("input.png") ? "it is read" : ""; },
        [&told](const QString& path) { told << path; });
    QWidget plot(&window);
    for (const char* name : { "input.png", "other.png" }) {
        saveAs(&plot, "Save as PNG", "png", [&](const QString& path) {
            written << path;
            return true;
        });
        auto* dialog = plot.findChild<QFileDialog*>();
        dialog->selectFile(folder.filePath(name));
        static_cast<QDialog*>(dialog)->accept();
        QTRY_VERIFY(!plot.findChild<QFileDialog*>());
    }
    QCOMPARE(written, QStringList { folder.filePath("other.png") });
    QCOMPARE(told, written);
    QCOMPARE(plot.findChild<QMessageBox*>()->text(), QStringLiteral("it is read"));
}

QTEST_MAIN(TestPlots)
#include "test_plots.moc"
