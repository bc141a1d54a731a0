// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/cli/command_line.h"
#include "tests/cli/runners.h"

#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include <nlohmann/json.hpp>

using namespace qs::test;
using nlohmann::json;

namespace {

const QStringList kAll { "--equalize", "--smooth-quant", "--adaround", "--bias-correction" };

class CorrectionsTests : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    QString path(const char* name) const { return m_folder.filePath(QString::fromLatin1(name)); }

private slots:
    void eachSaysWhatItGains_data()
    {
        QTest::addColumn<QStringList>("options");
        QTest::newRow("pairs") << QStringList {};
        QTest::newRow("per channel") << QStringList { "--per-channel" };
        QTest::newRow("operators") << QStringList { "--format", "qoperator", "--activation-type", "uint8" };
        QTest::newRow("dynamic") << QStringList { "--format", "dynamic" };
    }
    void eachSaysWhatItGains()
    {
        QFETCH(QStringList, options);
        const QStringList with = QStringList { "--data", kData } + options + kAll;
        const Outcome o = quantscope(
            QStringList { "quantize", kFloat, "-o", path("one.onnx"), "--threads", "1", "--json", path("one.json") }
            + with);
        QCOMPARE(o.code, 0);
        for (const char* name : { "equalization: ", "SmoothQuant: ", "weight rounding: ", "bias correction: " })
            QVERIFY2(o.out.contains(QByteArray(name) + "output SQNR "), o.out.constData());
        const json reports = parsed(contentOf(path("one.json")))["corrections"];
        QCOMPARE(reports.size(), size_t(4));
        for (size_t i = 0; i < 4; ++i) {
            QVERIFY(reports[i]["sqnr_db_before"].get<double>() > 5);
            if (i > 0) // each goes on from the one before
                QCOMPARE(reports[i]["sqnr_db_before"].get<double>(), reports[i - 1]["sqnr_db_after"].get<double>());
        }
        QS_EXPECT(0, {}, QStringList { "quantize", kFloat, "-o", path("two.onnx"), "--threads", "2" } + with);
        QCOMPARE(contentOf(path("two.onnx")), contentOf(path("one.onnx")));
        const json written
            = parsed(quantscope({ "compare", kFloat, path("one.onnx"), "--data", kData, "--json", "-" }).out);
        const json direct = parsed(quantscope(QStringList { "compare", kFloat, "--json", "-" } + with).out);
        QCOMPARE(direct["outputs"][0]["sqnr_db"].get<double>(), written["outputs"][0]["sqnr_db"].get<double>());
    }

    void recipesAskForThem()
    {
        QS_EXPECT(0, {},
            QStringList {
                "quantize", kFloat, "-o", path("asked.onnx"), "--data", kData, "--save-recipe", path("asked.json") }
                + kAll);
        const json recipe = parsed(contentOf(path("asked.json")));
        QVERIFY(recipe["smooth_quant"].get<bool>() && recipe["corrections"]["bias"].get<bool>());
        QS_EXPECT(
            0, {}, { "quantize", kFloat, "-o", path("again.onnx"), "--data", kData, "--recipe", path("asked.json") });
        QCOMPARE(contentOf(path("again.onnx")), contentOf(path("asked.onnx")));
        QS_EXPECT(0, {},
            { "quantize", kFloat, "-o", path("without.onnx"), "--data", kData, "--recipe", path("asked.json"),
                "--no-equalize", "--no-smooth-quant", "--no-adaround", "--no-bias-correction" });
        QS_EXPECT(0, {}, { "quantize", kFloat, "-o", path("plain.onnx"), "--data", kData });
        QCOMPARE(contentOf(path("without.onnx")), contentOf(path("plain.onnx")));
        QVERIFY(contentOf(path("again.onnx")) != contentOf(path("plain.onnx")));
    }

    void refusals_data()
    {
        QTest::addColumn<QStringList>("words");
        QTest::addColumn<QStringList>("options");
        QTest::newRow("no data") << QStringList { "--data" }
                                 << QStringList { "--format", "dynamic", "--bias-correction" };
        QTest::newRow("ranges from a file")
            << QStringList { "--ranges" } << QStringList { "--data", kData, "--equalize", "--ranges", "r.json" };
        QTest::newRow("blocks") << QStringList { "blocks" }
                                << QStringList { "--data", kData, "--format", "weight-only", "--adaround" };
        QTest::newRow("alpha") << QStringList { "--smooth-quant-alpha" }
                               << QStringList { "--data", kData, "--smooth-quant", "--smooth-quant-alpha", "1.5" };
    }
    void refusals()
    {
        QFETCH(QStringList, words);
        QFETCH(QStringList, options);
        QS_EXPECT(2, words, QStringList { "quantize", kFloat, "-o", path("refused.onnx") } + options);
        QVERIFY(!QFile::exists(path("refused.onnx")));
    }
};

} // namespace

int qs::test::runCorrectionsTests(int argc, char** argv)
{
    CorrectionsTests test;
    return QTest::qExec(&test, argc, argv);
}

#include "corrections_test.moc"
