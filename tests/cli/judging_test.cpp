// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/arrays/array_file.h"
#include "tests/cli/command_line.h"
#include "tests/cli/onnx_bytes.h"
#include "tests/cli/runners.h"

#include <QFileInfo>
#include <QTemporaryDir>
#include <QtTest>

#include <cmath>
#include <nlohmann/json.hpp>

using namespace qs::test;
using nlohmann::json;

namespace {

QStringList comparing(const QString& quant, const QStringList& more)
{
    return QStringList { "compare", kFloat, quant, "--data", kData } + more;
}

/// All items of an array.
std::vector<float> valuesOf(const QString& file, const std::string& key)
{
    auto archive = qs::ArrayArchive::open(file.toStdString());
    if (!archive)
        qFatal("%s cannot be opened", qPrintable(file));
    auto array = archive->array(key);
    const int64_t items = array->shape()[0];
    if (!array->prepare(items))
        qFatal("%s cannot be read", key.c_str());
    const qs::Tensor t = *array->items(0, items);
    const auto data = t.data<float>();
    return { data.begin(), data.end() };
}

/// How results are judged: gates, models side by side, elements.
class JudgingTests : public QObject {
    Q_OBJECT

private:
    QTemporaryDir m_folder;
    QString file(const QString& name) const { return m_folder.filePath(name); }

    json compared(const QString& quant, const QStringList& options)
    {
        const Outcome o = quantscope(comparing(quant, options + QStringList { "--json", "-" }));
        if (o.code != 0)
            qFatal("compare failed: %s", o.err.constData());
        return parsed(o.out);
    }

private slots:
    void gates_data()
    {
        QTest::addColumn<QString>("quant");
        QTest::addColumn<QStringList>("options");
        QTest::addColumn<int>("code");
        QTest::addColumn<QStringList>("missed");
        const auto row = [](const char* name, const QString& quant, const QStringList& options, int code,
                             const QStringList& missed) { QTest::newRow(name) << quant << options << code << missed; };
        row("accuracy holds", kQdq, { "--max-accuracy-drop", "1" }, 0, {});
        row("accuracy falls", kNarrow, { "--max-accuracy-drop", "1" }, 1, { "--max-accuracy-drop" });
        row("may fall so far", kNarrow, { "--max-accuracy-drop", "100" }, 0, {});
        row("classes hold", kQdq, { "--min-top1", "0.9" }, 0, {});
        row("classes change", kNarrow, { "--min-top1", "0.99" }, 1, { "--min-top1" });
        row("all of them", kNarrow, { "--min-top1", "0.99", "--max-accuracy-drop", "1", "--fail-below-sqnr", "10" }, 1,
            { "--fail-below-sqnr", "--max-accuracy-drop", "--min-top1" });
    }
    void gates()
    {
        QFETCH(QString, quant);
        QFETCH(QStringList, options);
        QFETCH(int, code);
        QFETCH(QStringList, missed);
        const Outcome o = quantscope(comparing(quant, options));
        QVERIFY2(complaint(o, code, missed).isEmpty(), qPrintable(complaint(o, code, missed)));
        QCOMPARE(o.out.count("missed: "), missed.size());
        // stdout is the document's alone
        const Outcome withJson = quantscope(comparing(quant, options + QStringList { "--json", "-" }));
        QCOMPARE(withJson.code, code);
        QVERIFY(parsed(withJson.out).is_object());
        QVERIFY2(complaint(withJson, code, missed).isEmpty(), withJson.err.constData());
    }

    void gatesThatCannotBeJudged()
    {
        QS_EXPECT(3, QStringList { "labels" },
            { "compare", kFloat, kQdq, "--data", "random:2:1", "--shape", "image=1x1x8x8", "--max-accuracy-drop", "1",
                "--json", file("none.json") });
        QVERIFY(!QFileInfo::exists(file("none.json")));
        QS_EXPECT(2, QStringList { "--min-top1" }, comparing(kQdq, { "--min-top1", "1.5" }));
        QS_EXPECT(2, QStringList { "--max-accuracy-drop" }, comparing(kQdq, { "--max-accuracy-drop", "nan" }));
    }

    /// What its activations do may lie in its quantizers, and its values are cut already, or not yet.
    void quantizedReferencesAreNotJudged()
    {
        const Outcome o = quantscope({ "compare", kQdq, kNarrow, "--data", kData, "--json", "-" });
        QCOMPARE(o.code, 0);
        QVERIFY(o.err.contains("is quantized itself"));
        const json compared = parsed(o.out);
        for (const json& finding : compared["findings"]) {
            QVERIFY(finding["rule"] != "input_mismatch" && finding["rule"] != "range_too_small");
            QVERIFY(finding["rule"] != "models_differ" || finding["severity"] == "note");
        }
        // The same file twice is the same network in any case.
        const Outcome same = quantscope({ "compare", kQdq, kQdq, "--data", kData, "--json", "-" });
        QCOMPARE(same.code, 0);
        for (const json document = parsed(same.out); const json& finding : document["findings"])
            QVERIFY(finding["rule"] != "models_differ");
    }

    /// Weights in blocks: floats are multiplied by floats, unless the kernel makes codes of the activations, too.
    void weightsAloneAreNoProductsOfCodes()
    {
        const QString folder = QStringLiteral(QS_SOURCE_DIR "/resources/lessons/fewer-bits/");
        const QString model = folder + "perceptron.onnx", made = file("weights.onnx");
        for (const char* level : { "0", "4" }) {
            QStringList asked { "quantize", model, "--format", "weight-only", "-o", made };
            if (level[0] != '0')
                asked += QStringList { "--accuracy-level", level };
            QCOMPARE(quantscope(asked).code, 0);
            const Outcome o = quantscope(
                { "compare", model, made, "--data", folder + "pictures.npz", "--limit", "2", "--json", "-" });
            QCOMPARE(o.code, 0);
            QCOMPARE(parsed(o.out)["files"][1]["int8_mac_share"], json(level[0] == '4' ? 1.0 : 0.0));
        }
    }

    void fusedProductsOfFloatsAreNone()
    {
        std::vector<float> weight(8, 0.5f);
        const QString fused = file("fused.onnx");
        writeText(fused,
            QByteArray::fromStdString(OnnxBytes()
                                          .input("x", { 1, 2 })
                                          .floats("w", { 2, 4 }, weight)
                                          .node("FusedMatMul", { "x", "w" }, { "y" }, "com.microsoft")
                                          .output("y", { 1, 4 })
                                          .model()));
        const Outcome o = quantscope({ "compare", fused, fused, "--data", "random:2", "--json", "-" });
        QCOMPARE(o.code, 0);
        QCOMPARE(parsed(o.out)["files"][0]["int8_mac_share"], json(0.0));
    }

    void modelsSideBySide()
    {
        const json files = compared(kNarrow, {})["files"];
        QCOMPARE(files.size(), size_t(2));
        QCOMPARE(files[0]["role"], json("float"));
        QCOMPARE(files[1]["role"], json("quantized"));
        QCOMPARE(files[0]["bytes"].get<qint64>(), QFileInfo(kFloat).size());
        QCOMPARE(files[1]["bytes"].get<qint64>(), QFileInfo(kNarrow).size());
        QCOMPARE(files[0]["int8_mac_share"], json(0.0));
        QVERIFY(files[1]["int8_mac_share"].get<double>() > 0.5);
        QCOMPARE(files[0]["macs"], files[1]["macs"]);
        QVERIFY(files[0]["accuracy"].get<double>() > files[1]["accuracy"].get<double>());
        QVERIFY(files[1]["output_sqnr_db"].is_number());
        QVERIFY(files[1]["run_time"].is_null());
    }

    void timeIsMeasured()
    {
        const Outcome o = quantscope(
            { "compare", kQdq, kNarrow, "--reference", kFloat, "--data", kData, "--measure-time", "--threads", "1",
                "--arithmetic", "integer", "--json", file("timed.json"), "--html", file("timed.html") });
        QCOMPARE(o.code, 0);
        const json document = parsed(contentOf(file("timed.json"))), files = document["models"];
        QCOMPARE(document["files"].size(), size_t(2)); // as if B was compared alone
        QCOMPARE(document["files"][1]["path"], files[2]["path"]);
        QCOMPARE(document["a"]["files"][1]["path"], files[1]["path"]);
        QCOMPARE(files.size(), size_t(3));
        QCOMPARE(files[1]["role"], json("a"));
        QCOMPARE(files[2]["role"], json("b"));
        for (const json& f : files) {
            const json& t = f["run_time"];
            QVERIFY(t["min_ms"].get<double>() <= t["median_ms"].get<double>());
            QVERIFY(t["median_ms"].get<double>() <= t["max_ms"].get<double>());
            QCOMPARE(t["threads"], json(1));
            QCOMPARE(t["arithmetic"], json(f["role"] == "float" ? "float" : "integer"));
        }
        QVERIFY(o.out.contains("time of a run"));
        QVERIFY(contentOf(file("timed.html")).contains("Models side by side"));
    }

    void recipeHasASize()
    {
        const QString out = file("made.onnx"), recipe = file("made.json");
        QCOMPARE(quantscope({ "quantize", kFloat, "--data", kData, "-o", out, "--save-recipe", recipe }).code, 0);
        const Outcome o = quantscope({ "compare", kFloat, "--recipe", recipe, "--data", kData, "--json", "-" });
        QCOMPARE(o.code, 0);
        const json files = parsed(o.out)["files"];
        QVERIFY(files[1]["path"].is_null());
        QCOMPARE(files[1]["bytes"].get<qint64>(), QFileInfo(out).size());
    }

    /// Against a naive reference over what both files compute.
    void elements_data()
    {
        QTest::addColumn<double>("rtol");
        QTest::addColumn<double>("atol");
        QTest::newRow("exactly") << 0.0 << 0.0;
        QTest::newRow("relative") << 0.05 << 0.0;
        QTest::newRow("absolute") << 0.0 << 0.5;
        QTest::newRow("both") << 0.1 << 0.25;
        QTest::newRow("nothing beyond") << 0.0 << 1e9;
    }
    void elements()
    {
        QFETCH(double, rtol);
        QFETCH(double, atol);
        const Outcome o = quantscope({ "compare", kQdq, kNarrow, "--reference", kFloat, "--data", kData, "--rtol",
            QString::number(rtol), "--atol", QString::number(atol), "--json", "-" });
        QCOMPARE(o.code, 0);
        const json found = parsed(o.out)["elements"];
        QCOMPARE(found["rtol"], json(rtol));
        for (const QString& path : { kQdq, kNarrow })
            if (const QString npz = file(QFileInfo(path).baseName() + ".npz"); !QFileInfo::exists(npz))
                QCOMPARE(quantscope({ "run", path, "--data", kData, "--all-tensors", "--out", npz }).code, 0);
        QVERIFY(found["rows"].size() > 5);
        QVERIFY(found["rows"][0]["output"].get<bool>());
        for (const json& row : found["rows"]) {
            const auto a = valuesOf(file("digits_qdq.npz"), row["a_name"]);
            const auto b = valuesOf(file("digits_qdq_narrow.npz"), row["b_name"]);
            QCOMPARE(a.size(), b.size());
            uint64_t beyond = 0;
            double largest = 0;
            std::optional<size_t> first;
            for (size_t i = 0; i < a.size(); ++i) {
                const double difference = std::fabs(double(b[i]) - double(a[i]));
                largest = std::max(largest, difference);
                if (difference > atol + rtol * std::fabs(double(a[i]))) {
                    ++beyond;
                    first = first.value_or(i);
                }
            }
            QCOMPARE(row["elements"], json(a.size()));
            QCOMPARE(row["beyond"], json(beyond));
            QCOMPARE(row["max_difference"].get<double>(), largest);
            QCOMPARE(row["first"].is_null(), !first);
            if (first) {
                const size_t each = a.size() / size_t(parsed(o.out)["samples"].get<int>());
                QCOMPARE(row["first"]["sample"], json(*first / each));
                QCOMPARE(row["first"]["a"].get<double>(), double(a[*first]));
                QCOMPARE(row["first"]["b"].get<double>(), double(b[*first]));
            }
        }
    }

    void elementsWithoutReference()
    {
        const Outcome o = quantscope({ "compare", kQdq, kNarrow, "--data", kData, "--atol", "0.5", "--json",
            file("two.json"), "--html", file("two.html") });
        QCOMPARE(o.code, 0);
        QVERIFY(o.out.contains("element by element"));
        QVERIFY(parsed(contentOf(file("two.json")))["elements"]["rows"].size() > 3);
        QVERIFY(contentOf(file("two.html")).contains("Element by element"));
        const Outcome same = quantscope({ "compare", kQdq, kQdq, "--data", kData, "--atol", "0", "--json", "-" });
        for (const json document = parsed(same.out); const json& row : document["elements"]["rows"])
            QCOMPARE(row["beyond"], json(0));
        QS_EXPECT(2, QStringList { "--rtol" }, comparing(kQdq, { "--rtol", "-1" }));
        QS_EXPECT(2, QStringList { "--shard" },
            comparing(kQdq, { "--atol", "1", "--shard", "1/2", "--state", file("s.qstate") }));
    }

    /// Codes of a dynamic quantizer are compared as the reals that they stand for; names of values before a quantizer
    /// stand for what follows it.
    void elementsOfOtherForms()
    {
        const QString dynamic = file("dynamic.onnx"), codes = file("codes.onnx"), pairs = file("pairs.onnx");
        QCOMPARE(quantscope({ "quantize", kFloat, "--format", "dynamic", "-o", dynamic }).code, 0);
        QCOMPARE(quantscope({ "quantize", kFloat, "--format", "qoperator", "--data", kData, "-o", codes }).code, 0);
        QCOMPARE(quantscope({ "quantize", kFloat, "--format", "qdq", "--data", kData, "-o", pairs }).code, 0);
        const Outcome o = quantscope({ "compare", kQdq, dynamic, "--reference", kFloat, "--data", kData, "--rtol",
            "0.5", "--atol", "0.5", "--json", "-" });
        QCOMPARE(o.code, 0);
        for (const json document = parsed(o.out); const json& row : document["elements"]["rows"])
            QVERIFY2(row["beyond_share"].get<double>() < 0.05, row.dump().c_str());
        const Outcome direct = quantscope({ "compare", pairs, codes, "--data", kData, "--arithmetic", "integer",
            "--rtol", "0.02", "--atol", "0.1", "--json", "-" });
        QCOMPARE(direct.code, 0);
        QVERIFY(parsed(direct.out)["elements"]["rows"].size() > 3);
        for (const json document = parsed(direct.out); const json& row : document["elements"]["rows"])
            QVERIFY2(row["beyond_share"].get<double>() < 0.05, row.dump().c_str());
    }

    void ladderAsksForAccuracy()
    {
        QCOMPARE(quantscope({ "run", kFloat, "--data", kData, "--out", file("float.npz") }).code, 0);
        const json good = compared(kQdq, { "--framework", file("float.npz") })["ladder"];
        QCOMPARE(good["rows"][1]["rule"], json("accuracy within 1 point"));
        QVERIFY(good["rows"][1]["agrees"].get<bool>());
        const json bad = compared(kNarrow, { "--framework", file("float.npz") })["ladder"];
        QCOMPARE(bad["ends_at"]["step"], json("float -> simulated"));
        QVERIFY(
            bad["rows"][1]["accuracy_before"].get<double>() > bad["rows"][1]["accuracy_after"].get<double>() + 0.01);
    }
};

} // namespace

int qs::test::runJudgingTests(int argc, char** argv)
{
    JudgingTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "judging_test.moc"
