// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/cli/command_line.h"
#include "tests/cli/runners.h"

#include <QFileInfo>
#include <QTemporaryDir>
#include <QXmlStreamReader>
#include <QtTest>

#include <nlohmann/json.hpp>

using namespace qs::test;
using nlohmann::json;

namespace {

/// Gate files and the results for continuous integration.
class GateTests : public QObject {
    Q_OBJECT

private:
    QTemporaryDir m_folder;
    QString file(const QString& name) const { return m_folder.filePath(name); }
    QString gateFile(const QByteArray& text) const
    {
        writeText(file("gates.toml"), text);
        return file("gates.toml");
    }
    static QStringList comparing(const QString& quant, const QStringList& more)
    {
        return QStringList { "compare", kFloat, quant, "--data", kData, "--limit", "40" } + more;
    }
    Outcome gated(const QString& quant, const QByteArray& gates, const QStringList& more = {}) const
    {
        return quantscope(comparing(quant, QStringList { "--gate", gateFile(gates) } + more));
    }
    QStringList ciOptions() const
    {
        return { "--junit", file("r.xml"), "--sarif", file("r.sarif"), "--markdown", file("r.md") };
    }

private slots:
    void initTestCase()
    {
        QCOMPARE(quantscope(comparing(kQdq, { "--json", file("base.json") })).code, 0);
        QVERIFY(QFile::copy(kFloat, file("model.onnx")));
    }

    void everyGate_data()
    {
        QTest::addColumn<QByteArray>("gates");
        QTest::addColumn<QStringList>("missed"); // by the bad file; the good one keeps all
        const auto row = [](const char* name, const QByteArray& gates, const QStringList& missed) {
            QTest::newRow(name) << gates << missed;
        };
        row("SQNR", "[outputs]\nmin_sqnr_db = 30\n", { "output scores has ", " dB, below the 30 dB" });
        row("accuracy", "[outputs]\nmax_accuracy_drop = 1\n", { "accuracy falls by ", " points, from 100 % to " });
        row("top-1", "[outputs]\nmin_top1 = 0.95\n", { "output scores has a top-1 agreement (share) of ", "0.95" });
        row("tensors", "[[tensors]]\nname = \"*Relu*\"\nmin_sqnr_db = 25\n",
            { "tensor /stem/relu/Relu_output_0 has " });
        row("findings", "[findings]\nfail_on = \"error\"\n", { "finding error input_mismatch at image" });
        row("warnings", "[findings]\nfail_on = \"warning\"\nignore = [\"input_mismatch\"]\n",
            { "finding warning range_too_small" });
        row("baseline", "[baseline]\nfile = \"base.json\"\nmax_loss_db = 0.1\n",
            { "output scores: ", " dB lost, from ", "tensor image: " });
    }
    void everyGate()
    {
        QFETCH(QByteArray, gates);
        QFETCH(QStringList, missed);
        const Outcome good = gated(kQdq, gates), bad = gated(kNarrow, gates);
        QVERIFY2(complaint(good, 0).isEmpty(), good.err.constData());
        QCOMPARE(good.out.count("missed: "), 0);
        QVERIFY2(complaint(bad, 1).isEmpty(), bad.err.constData());
        QVERIFY(bad.out.contains("missed: "));
        for (const QString& text : missed)
            QVERIFY2(bad.out.contains(text.toUtf8()), bad.out.constData());
    }

    void fileAndOptionsBothHold()
    {
        const QByteArray gates = "[outputs]\nmin_top1 = 0.5\n";
        QCOMPARE(gated(kQdq, gates, { "--min-top1", "0.9", "--fail-below-sqnr", "90" }).code, 1);
        QCOMPARE(gated(kNarrow, gates, { "--min-top1", "0.1" }).code, 1);
        QCOMPARE(gated(kQdq, gates, { "--min-top1", "0.1" }).code, 0);
    }

    /// With another set of samples the baseline is doubtful, and a tensor that is gone is missed.
    void baselineOfSomethingElse()
    {
        json base = parsed(contentOf(file("base.json")));
        base["activations"].push_back({ { "name", "gone" }, { "sqnr_db", 20 }, { "exact", false } });
        base["samples"] = 7;
        writeText(file("other.json"), QByteArray::fromStdString(base.dump()));
        const Outcome o = gated(kQdq, "[baseline]\nfile = \"other.json\"\nmax_loss_db = 1\n");
        QCOMPARE(o.code, 1);
        QCOMPARE(o.out.count("missed: "), 1);
        QVERIFY(o.out.contains("tensor gone: not in this comparison"));
        QVERIFY(o.err.contains("warning: the baseline ") && o.err.contains("7 samples"));
    }

    void whatCannotBeJudged_data()
    {
        QTest::addColumn<QByteArray>("gates");
        QTest::addColumn<int>("code");
        QTest::addColumn<QStringList>("words");
        const auto row = [](const char* name, const QByteArray& gates, int code, const QStringList& words) {
            QTest::newRow(name) << gates << code << words;
        };
        row("pattern without a tensor", "[[tensors]]\nname = \"/stem/*/nothing\"\nmin_sqnr_db = 1\n", 3,
            { "gates.toml", "line 1", "/stem/*/nothing" });
        row("no regular expression", "[[tensors]]\nname = \"re:(\"\nmin_sqnr_db = 1\n", 3, { "gates.toml", "re:(" });
        row("unknown key", "[outputs]\nmin_snr = 1\n", 3, { "gates.toml", "line 2", "min_snr" });
        row("empty", "", 3, { "gates.toml" });
        row("no TOML", "[outputs\n", 3, { "gates.toml", "line 1" });
        row("no baseline", "[baseline]\nfile = \"none.json\"\nmax_loss_db = 1\n", 3, { "none.json" });
        row("baseline is another file", "[baseline]\nfile = \"model.onnx\"\nmax_loss_db = 1\n", 3, { "model.onnx" });
    }
    void whatCannotBeJudged()
    {
        QFETCH(QByteArray, gates);
        QFETCH(int, code);
        QFETCH(QStringList, words);
        const Outcome o = gated(kQdq, gates, ciOptions());
        QVERIFY2(complaint(o, code, words).isEmpty(), o.err.constData());
        QVERIFY(o.out.isEmpty());
        for (const char* name : { "r.xml", "r.sarif", "r.md" })
            QVERIFY(!QFileInfo::exists(file(name)));
        QS_EXPECT(3, QStringList { "missing.toml" }, comparing(kQdq, { "--gate", file("missing.toml") }));
    }

    void resultsForCi_data()
    {
        QTest::addColumn<QByteArray>("gates");
        QTest::addColumn<int>("code");
        QTest::newRow("missed") << QByteArray("[outputs]\nmin_sqnr_db = 30\n[findings]\nfail_on = \"error\"\n") << 1;
        QTest::newRow("kept") << QByteArray("[outputs]\nmin_sqnr_db = -90\n") << 0;
        QTest::newRow("no gates") << QByteArray() << 0;
    }
    void resultsForCi()
    {
        QFETCH(QByteArray, gates);
        QFETCH(int, code);
        const QStringList gate = gates.isEmpty() ? QStringList() : QStringList { "--gate", gateFile(gates) };
        QCOMPARE(quantscope(comparing(kNarrow, ciOptions() + gate)).code, code);
        const QByteArray markdown = contentOf(file("r.md"));
        const char* verdict = gates.isEmpty() ? ", no gates\n" : code == 0 ? " no gate missed" : " missed";
        QVERIFY2(markdown.left(markdown.indexOf('\n') + 1).contains(verdict), markdown.constData());
        const json run = parsed(contentOf(file("r.sarif")))["runs"][0];
        QVERIFY(run["results"].size() >= 3);
        QCOMPARE(QByteArray::fromStdString(run.dump()).contains("\"ruleId\":\"gate.outputs.min_sqnr_db\""), code == 1);
        const QByteArray junit = contentOf(file("r.xml"));
        QXmlStreamReader xml(junit);
        while (!xml.atEnd())
            xml.readNext();
        QVERIFY2(!xml.hasError(), qPrintable(xml.errorString()));
        QCOMPARE(junit.contains("<failure"), code == 1);
        if (!gates.contains("fail_on")) // which does not judge what the CPU at hand does
            QCOMPARE(junit.contains("<skipped"), gates.isEmpty());
        for (const char* name : { "r.xml", "r.sarif", "r.md" })
            QVERIFY(QFile::remove(file(name)));
    }

    void resultsOnStdout()
    {
        const QByteArray gates = "[outputs]\nmin_sqnr_db = 30\n";
        const Outcome markdown = gated(kNarrow, gates, { "--markdown", "-" });
        QVERIFY(markdown.code == 1 && markdown.out.startsWith("## Quantscope: "));
        QVERIFY(!markdown.out.contains("missed: "));
        const Outcome sarif = gated(kNarrow, gates, { "--sarif", "-" });
        QVERIFY(sarif.code == 1 && parsed(sarif.out).is_object());
        QVERIFY(gated(kNarrow, gates, { "--junit", "-" }).out.startsWith("<?xml "));
        QS_EXPECT(2, QStringList { "'-'" }, comparing(kQdq, { "--junit", "-", "--sarif", "-" }));
    }

    void inputsAreKept()
    {
        const QString gates = gateFile("[baseline]\nfile = \"base.json\"\nmax_loss_db = 1\n");
        const QByteArray before = contentOf(file("base.json"));
        for (const char* option : { "--junit", "--sarif", "--markdown", "--json", "--csv" }) {
            QS_EXPECT(2, (QStringList { "overwrite", "the baseline" }),
                comparing(kQdq, { "--gate", gates, option, file("base.json") }));
            QS_EXPECT(
                2, (QStringList { "overwrite", "the gate file" }), comparing(kQdq, { "--gate", gates, option, gates }));
        }
        for (const char* option : { "--junit", "--sarif", "--markdown" }) {
            QS_EXPECT(2, (QStringList { "overwrite", "the float model" }),
                { "compare", file("model.onnx"), kQdq, "--data", kData, option, file("model.onnx") });
            QS_EXPECT(3, QStringList { "nowhere" }, comparing(kQdq, { option, file("nowhere/r") }));
        }
        QCOMPARE(contentOf(file("base.json")), before);
        QCOMPARE(contentOf(file("model.onnx")), contentOf(kFloat));
    }

    void mergedShards()
    {
        const QString state = file("s.qstate");
        QCOMPARE(quantscope(comparing(kNarrow, { "--shard", "1/1", "--state", state })).code, 0);
        const QString gates = gateFile("[outputs]\nmin_sqnr_db = 30\n");
        const Outcome o = quantscope({ "merge", state, "--gate", gates, "--junit", file("m.xml") });
        QCOMPARE(o.code, 1);
        QVERIFY(contentOf(file("m.xml")).contains("<failure"));
    }

    /// The gate file that the page shows can be read: all its keys are there.
    void documentation()
    {
        const QString page = QString::fromUtf8(contentOf(QStringLiteral(QS_SOURCE_DIR "/docs/ci.md")));
        const QString shown = page.section("```toml\n", 1, 1).section("```", 0, 0);
        QVERIFY(QFile::exists(file("base.json")));
        writeText(file("baseline.json"), contentOf(file("base.json")));
        const Outcome o = gated(kQdq, shown.toUtf8());
        QVERIFY2(complaint(o, 0).isEmpty(), o.err.constData());
        for (const char* key : { "min_sqnr_db", "max_accuracy_drop", "min_top1", "[[tensors]]", "fail_on", "ignore",
                 "[baseline]", "max_loss_db" })
            QVERIFY2(shown.contains(key), key);
        const QByteArray help = quantscope({ "compare", "--help" }).out;
        for (const char* option : { "--gate", "--junit", "--sarif", "--markdown", "--max-accuracy-drop", "--min-top1" })
            QVERIFY2(help.contains(option) && page.contains(option), option);
    }
};

} // namespace

int qs::test::runGateTests(int argc, char** argv)
{
    GateTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "gates_test.moc"
