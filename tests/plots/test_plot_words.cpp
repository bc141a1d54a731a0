// SPDX-License-Identifier: GPL-3.0-or-later
// What plots say to those who do not see them.
#include "widgets/plots/channel_chart.h"
#include "widgets/plots/heat_map.h"
#include "widgets/plots/histogram_plot.h"
#include "widgets/plots/line_chart.h"
#include "widgets/plots/point_chart.h"

#include <QtTest>

using namespace qs;

class TestPlotWords : public QObject {
    Q_OBJECT
private slots:
    void histogram()
    {
        HistogramPlot plot;
        HistogramData data;
        data.series = { { "float", { -2, -1, 0, 1, 2 }, { 0, 5, 7, 0 }, Qt::blue, HistogramSeries::Look::Filled },
            { "noise", { 0, 1 }, { 0 }, Qt::red, HistogramSeries::Look::Dashed } };
        data.representableLabel = "range 6.10 · clips 11.8 %";
        data.xLabel = "value before quantization";
        plot.setData(data);
        QCOMPARE(plot.accessibleDescription(),
            QString("Histogram of value before quantization. float: -1 to 1; range 6.10 · clips 11.8 %"));
        plot.showRange({ 0, 1 }, "range 1 · clips 40 %"); // while it is dragged
        QVERIFY(plot.accessibleDescription().endsWith("; range 1 · clips 40 %"));
        HistogramData none;
        none.emptyText = "Choose a tensor.";
        plot.setData(none);
        QCOMPARE(plot.accessibleDescription(), none.emptyText);
    }

    void lines()
    {
        LineChart chart;
        LineData data;
        data.items = { "conv_1", "relu_1", "fc" };
        data.series = { { "accumulated", { 30, qQNaN(), -5 }, Qt::blue, false, false },
            { "nowhere", { qQNaN(), qQNaN(), qQNaN() }, Qt::red, false, false } };
        data.unit = "dB";
        chart.setData(data);
        QCOMPARE(chart.accessibleDescription(), QString("3 items; accumulated: -5 at fc to 30 dB at conv_1"));
        QTest::keyClick(&chart, Qt::Key_Right); // what is chosen comes first
        QVERIFY2(chart.accessibleDescription().startsWith("conv_1"), qPrintable(chart.accessibleDescription()));
        QVERIFY(chart.accessibleDescription().endsWith("at conv_1"));
        chart.setChosen(std::nullopt);
        QVERIFY(chart.accessibleDescription().startsWith("3 items"));
    }

    void channels()
    {
        ChannelChart chart;
        ChannelData data;
        data.channels.resize(3);
        data.channels[0].low = -1, data.channels[0].high = 1;
        data.channels[1].low = -4, data.channels[1].high = 2;
        data.channels[2].low = 0, data.channels[2].high = 3;
        chart.setData(data);
        QCOMPARE(chart.accessibleDescription(), QString("3 channels, -4 to 3; the widest is channel 1: -4 to 2"));
    }

    void map()
    {
        HeatMap map;
        HeatData data;
        data.rows = 2, data.columns = 3;
        data.values = { 0, 1, qQNaN(), 4, 9, 2 };
        data.high = 9;
        data.colour = [](double) { return QColor(Qt::gray); };
        data.rowName = "row", data.columnName = "column", data.valueName = "RMS error:";
        data.rowStep = 2;
        map.setData(data);
        QCOMPARE(map.accessibleDescription(),
            QString("2 rows, 3 columns; RMS error: 0 to 9, the highest at row 2, column 1"));
    }

    void points()
    {
        PointChart chart;
        PointData data;
        data.points = { { 1, 10, "a" }, { 3, -2, "b" } };
        data.xLabel = "int8 MACs, %", data.yLabel = "SQNR, dB";
        chart.setData(data);
        QCOMPARE(chart.accessibleDescription(), QString("2 points; int8 MACs, %: 1 to 3; SQNR, dB: -2 to 10"));
    }
};

QTEST_MAIN(TestPlotWords)
#include "test_plot_words.moc"
