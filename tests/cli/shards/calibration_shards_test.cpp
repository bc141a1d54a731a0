// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/cli/command_line.h"
#include "tests/cli/runners.h"

#include <QTemporaryDir>
#include <QtTest>

#include <nlohmann/json.hpp>

using namespace qs::test;

namespace {

class CalibrationShardsTests : public QObject {
    Q_OBJECT

private:
    QTemporaryDir m_folder;

    QString file(const QString& name) const { return m_folder.filePath(name); }
    /// One round of all shards; their state files. `before`: those of the first round.
    QStringList round(const QStringList& options, int count, const QString& name, const QStringList& before = {})
    {
        QStringList states;
        for (int i = 1; i <= count; ++i) {
            states << file(QString("%1-%2.qcal").arg(name).arg(i));
            QStringList line { "quantize", kFloat, "--data", kData, "--shard", QString("%1/%2").arg(i).arg(count),
                "--state", states.last(), "--threads", QString::number(1 + i % 2), "--json", "-" };
            line += options;
            if (!before.isEmpty())
                line += QStringList { "--calibrated" } + before;
            const Outcome o = quantscope(line);
            if (o.code != 0)
                qFatal("shard failed: %s", o.err.constData());
            m_needsMore = parsed(o.out)["needs_second_round"].get<bool>();
        }
        return states;
    }
    bool m_needsMore = false;

private slots:
    void equalsOneRun_data()
    {
        QTest::addColumn<QStringList>("options");
        QTest::addColumn<bool>("counts");
        QTest::newRow("minmax") << QStringList { "--per-channel" } << false;
        const auto strided = [this](const QString& method) {
            writeText(file(method + ".json"),
                R"({"schema_version": 1, "calibration": {"stride": 16, "method": ")" + method.toUtf8() + R"("}})");
            return QStringList { "--recipe", file(method + ".json") };
        };
        QTest::newRow("moving average") << QStringList { "--method", "moving-average" } << false;
        QTest::newRow("moving average, stride") << strided("moving-average") << false;
        QTest::newRow("mse") << QStringList { "--method", "mse" } << false;
        QTest::newRow("percentile") << QStringList { "--method", "percentile", "--percentile", "99.5" } << true;
        QTest::newRow("entropy") << QStringList { "--method", "entropy", "--bins", "512" } << true;
        QTest::newRow("percentile, stride") << strided("percentile") << true;
        QTest::newRow("entropy, stride") << strided("entropy") << true;
        QTest::newRow("one tensor's") << QStringList { "--tensor-calibrator", "*=percentile:99.9" } << true;
    }
    void equalsOneRun()
    {
        QFETCH(QStringList, options);
        QFETCH(bool, counts);
        const QStringList whole { "--limit", "64", "--data", kData };
        const Outcome one
            = quantscope(QStringList { "quantize", kFloat, "-o", file("one.onnx"), "--save-ranges", file("one.json") }
                + whole + options);
        QCOMPARE(complaint(one, 0), QString());
        for (const int count : { 1, 3, 7 }) {
            const QStringList shard = options + QStringList { "--limit", "64" };
            QStringList states = round(shard, count, "first");
            QCOMPARE(m_needsMore, counts);
            if (counts)
                states = round(shard, count, "second", states) + states;
            const Outcome sum = quantscope(
                QStringList { "quantize", kFloat, "-o", file("sum.onnx"), "--save-ranges", file("sum.json") } + options
                + QStringList { "--calibrated" } + states);
            QCOMPARE(complaint(sum, 0), QString());
            QCOMPARE(contentOf(file("sum.json")), contentOf(file("one.json")));
            QCOMPARE(contentOf(file("sum.onnx")), contentOf(file("one.onnx")));
        }
    }

    /// Sums of neighbours take the place of shards, in both rounds.
    void tree_data()
    {
        QTest::addColumn<QStringList>("options");
        QTest::newRow("mse") << QStringList { "--method", "mse" };
        QTest::newRow("moving average") << QStringList { "--method", "moving-average" };
        QTest::newRow("percentile") << QStringList { "--method", "percentile", "--percentile", "99.5" };
        QTest::newRow("entropy") << QStringList { "--method", "entropy", "--bins", "512" };
    }
    void tree()
    {
        QFETCH(QStringList, options);
        const auto summed = [this](const QString& name, const QStringList& states) {
            QStringList sums;
            for (const QStringList& part : { states.mid(3, 4), states.mid(0, 3) }) {
                sums << file(name + QString::number(sums.size()));
                const Outcome o = quantscope(QStringList { "merge" } + part + QStringList { "--state", sums.last() });
                if (o.code != 0)
                    qFatal("sum failed: %s", o.err.constData());
            }
            return sums;
        };
        const QStringList shard = options + QStringList { "--limit", "60" };
        QStringList states = summed("first", round(shard, 7, "first"));
        if (m_needsMore)
            states += summed("second", round(shard, 7, "second", states));
        const Outcome one = quantscope(
            QStringList { "quantize", kFloat, "-o", file("one.onnx"), "--limit", "60", "--data", kData } + options);
        QCOMPARE(complaint(one, 0), QString());
        const Outcome sum = quantscope(QStringList { "quantize", kFloat, "-o", file("sum.onnx") } + options
            + QStringList { "--calibrated" } + states);
        QCOMPARE(complaint(sum, 0), QString());
        QCOMPARE(contentOf(file("sum.onnx")), contentOf(file("one.onnx")));
        QS_EXPECT(2, { "--calibrated" }, QStringList { "merge" } + states);
        writeText(file("notes"), "notes");
        QS_EXPECT(3, { "not overwritten" }, { "merge", states[0], "--state", file("notes") });
        QS_EXPECT(3, { "other data" },
            QStringList { "quantize", kFloat, "-o", file("no.onnx"), "--data", kData, "--limit", "50",
                "--calibration-cache", file("no.cache") }
                + options + QStringList { "--calibrated" } + states);
        QVERIFY(!QFile::exists(file("no.cache")));
        QS_EXPECT(3, { "is missing" }, { "quantize", kFloat, "-o", file("no.onnx"), "--calibrated", states[0] });
        QVERIFY(!QFile::exists(file("no.onnx")));
    }

    void refused()
    {
        const QStringList percentile { "--method", "percentile" };
        const QStringList first = round(percentile, 2, "a");
        const QStringList make { "quantize", kFloat, "-o", file("no.onnx"), "--calibrated" };
        QS_EXPECT(3, { "is missing" }, make + QStringList { first[0] });
        QS_EXPECT(3, { "as is" }, make + QStringList { first[0], first[0] });
        QS_EXPECT(3, { "second round" }, make + first + percentile);
        QS_EXPECT(3, { "no state file" }, make + QStringList { kFloat });
        const QStringList shard { "quantize", kFloat, "--data", kData, "--state", file("x"), "--shard" };
        QS_EXPECT(3, { "as many shards" }, shard + QStringList { "1/3", "--calibrated" } + first + percentile);
        QS_EXPECT(
            3, { "other data" }, shard + QStringList { "1/2", "--limit", "9", "--calibrated" } + first + percentile);
        QS_EXPECT(2, { "no calibrated ranges" }, shard + QStringList { "1/2", "--format", "dynamic" });
        QS_EXPECT(2, { "SmoothQuant" }, shard + QStringList { "1/2", "--smooth-quant" });
        QS_EXPECT(2, { "equalization" }, shard + QStringList { "1/2", "--equalize" });
        QS_EXPECT(2, { "I/N" }, shard + QStringList { "3/2" });
        QS_EXPECT(2, { "--out" }, shard + QStringList { "1/2", "-o", file("no.onnx") });
        QS_EXPECT(2, { "of all samples" }, shard + QStringList { "1/2", "--calibration-cache", file("no.cache") });
        QS_EXPECT(2, { "--data" }, make + first + QStringList { "--calibration-cache", file("no.cache") });
        QS_EXPECT(2, { "--ranges" }, shard + QStringList { "1/2", "--ranges", file("none") });
        QS_EXPECT(2, { "--data" }, { "quantize", kFloat, "--shard", "1/2", "--state", file("x") });
        QS_EXPECT(2, { "--state" }, { "quantize", kFloat, "--data", kData, "--shard", "1/2" });
        QS_EXPECT(2, { "--shard" }, { "quantize", kFloat, "--data", kData, "--state", file("x") });
        QS_EXPECT(2, { "--out" }, { "quantize", kFloat, "--data", kData });
        QVERIFY(!QFile::exists(file("x")) && !QFile::exists(file("no.onnx")));
    }
};

} // namespace

int qs::test::runCalibrationShardsTests(int argc, char** argv)
{
    CalibrationShardsTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "calibration_shards_test.moc"
