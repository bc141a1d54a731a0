// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/models/suites.h"
#include "widgets/models/base/formatting.h"
#include "widgets/models/base/metric.h"
#include "widgets/models/words/error_text.h"

#include <QTest>

#include <limits>

using namespace qs;

class TestFormatting : public QObject {
    Q_OBJECT
private slots:
    void numbers_data()
    {
        QTest::addColumn<double>("value");
        QTest::addColumn<QString>("text");
        QTest::newRow("zero") << 0.0 << QStringLiteral("0");
        QTest::newRow("small") << 0.023912 << QStringLiteral("0.0239");
        QTest::newRow("whole") << 42.0 << QStringLiteral("42");
        QTest::newRow("negative") << -1.5 << QStringLiteral("−1.50");
        QTest::newRow("hundreds") << 123.456 << QStringLiteral("123");
        QTest::newRow("tiny") << 3.1e-7 << QStringLiteral("3.10e−7");
        QTest::newRow("large") << 2.5e9 << QStringLiteral("2.50e9");
        QTest::newRow("infinite") << -std::numeric_limits<double>::infinity() << QStringLiteral("−∞");
        QTest::newRow("nan") << std::numeric_limits<double>::quiet_NaN() << QStringLiteral("NaN");
    }
    void numbers()
    {
        QFETCH(double, value);
        QFETCH(QString, text);
        QCOMPARE(numberText(value), text);
    }

    void decibels()
    {
        QCOMPARE(decibelText(-5.43), QStringLiteral("−5.4 dB"));
        QCOMPARE(decibelText(-0.01), QStringLiteral("0.0 dB"));
        QCOMPARE(decibelText({}), absentText());
        QCOMPARE(decibelText({}, true), QStringLiteral("exact"));
        QCOMPARE(signedDecibelText(2.14), QStringLiteral("+2.1 dB"));
        QCOMPARE(signedDecibelText(-3), QStringLiteral("−3.0 dB"));
    }

    void percents()
    {
        QCOMPARE(percentText(0.1184), QStringLiteral("11.8 %"));
        QCOMPARE(percentText(1.0), QStringLiteral("100 %"));
        QCOMPARE(percentText(0.0), QStringLiteral("0 %"));
        QCOMPARE(percentText(0.00001), QStringLiteral("< 0.1 %"));
        QCOMPARE(percentText(0.99999), QStringLiteral("> 99.9 %"));
        QCOMPARE(percentText(2 / 32.), QStringLiteral("6.3 %"));
        QCOMPARE(percentText(-0.102), QStringLiteral("−10.2 %"));
        QCOMPARE(percentText({}), absentText());
    }

    void plurals()
    {
        QCOMPARE(samplesText(0), QStringLiteral("0 samples"));
        QCOMPARE(samplesText(1), QStringLiteral("1 sample"));
        QCOMPARE(samplesText(1234), QStringLiteral("1,234 samples"));
        QCOMPARE(tr("%1 change(s) of %2 node(s)", nullptr, 2).arg(2).arg(1), QStringLiteral("2 changes of 1 nodes"));
        QCOMPARE(tr("no plural(s)"), QStringLiteral("no plural(s)"));
    }

    void durations()
    {
        QCOMPARE(durationText(0.42), QStringLiteral("0.4 ms"));
        QCOMPARE(durationText(350), QStringLiteral("350 ms"));
        QCOMPARE(durationText(1234), QStringLiteral("1.2 s"));
        QCOMPARE(durationText(125000), QStringLiteral("2 min 05 s"));
        QCOMPARE(durationText(7260000), QStringLiteral("2 h 01 min"));
    }

    void quantizers()
    {
        QuantParams params { DType::Int8, { 0.0239F }, { -128 }, {}, 0 };
        QCOMPARE(quantizerText(params), QStringLiteral("0.0239 * (q + 128) int8, per tensor"));
        params = { DType::Int8, { 0.5F, 0.25F }, { 0, 0 }, 0, 0 };
        QCOMPARE(quantizerText(params), QStringLiteral("s[c] * (q − z[c]) int8 per channel, axis 0, 2 scales"));
        QCOMPARE(extentText(params.scale), QStringLiteral("0.250 … 0.500"));
        QCOMPARE(extentText(params.zeroPoint), QStringLiteral("0"));
        QCOMPARE(quantizerText({}), absentText());
    }

    void shapesAndNames()
    {
        QCOMPARE(shapeLabel({ 1, 32, 25, 20 }), QStringLiteral("1×32×25×20"));
        QCOMPARE(shapeLabel({}), QStringLiteral("scalar"));
        QCOMPARE(dimsLabel(Dims { { -1, "N" }, { 3, {} }, {} }), QStringLiteral("N×3×?"));
        QCOMPARE(rangeText(std::pair { 0.0, 6.1 }), QStringLiteral("[0, 6.10]"));
        QCOMPARE(countText(1234567), QStringLiteral("1,234,567"));
        QCOMPARE(fileName("/a/b/c.onnx"), QStringLiteral("c.onnx"));
    }

    void issues()
    {
        Issue issue = badInput("the file is truncated", "/models/qdq.onnx", "copy it again");
        QCOMPARE(issueHeadline(issue), QStringLiteral("qdq.onnx: the file is truncated."));
        QCOMPARE(issueRemedy(issue), QStringLiteral("Copy it again."));
        QVERIFY(issueDetails(issue).contains(QStringLiteral("/models/qdq.onnx")));
        issue.file.clear();
        QCOMPARE(issueHeadline(issue), QStringLiteral("The file is truncated."));
        issue.node = "conv_1";
        QCOMPARE(issueHeadline(issue), QStringLiteral("node “conv_1”: the file is truncated."));
    }

    void metrics()
    {
        ActivationRow bad, good, exact, absent;
        bad.accumulated.sqnrDb = -5;
        good.accumulated.sqnrDb = 40;
        exact.accumulated.exact = true;
        const auto key = [](const ActivationRow& row) { return worstFirstKey(Metric::Accumulated, row); };
        QVERIFY(key(bad) < key(good));
        QVERIFY(key(good) < key(exact));
        QVERIFY(key(exact) < key(absent));
        bad.clippedFraction = 0.5;
        good.clippedFraction = 0;
        QVERIFY(worstFirstKey(Metric::Clipped, bad) < worstFirstKey(Metric::Clipped, good));
        QCOMPARE(metricBadness(Metric::Accumulated, -5), 1.0);
        QCOMPARE(metricBadness(Metric::Accumulated, 60), 0.0);
        QCOMPARE(metricBadness(Metric::Clipped, 5), 0.5);
        for (const Metric metric : kMetrics)
            QVERIFY(!metricInfo(metric).title.isEmpty() && !metricInfo(metric).definition.isEmpty());
    }
};

int runFormatting(int argc, char** argv)
{
    TestFormatting test;
    return QTest::qExec(&test, argc, argv);
}

#include "test_formatting.moc"
