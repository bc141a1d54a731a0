// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/cli/command_line.h"
#include "tests/cli/onnx_bytes.h"
#include "tests/cli/runners.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include <nlohmann/json.hpp>

using namespace qs::test;
using nlohmann::json;

namespace {

class QuantizeTests : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    QString path(const char* name) const { return m_folder.filePath(QString::fromLatin1(name)); }
    QString text(const char* name, const std::string& content) const
    {
        writeText(path(name), QByteArray::fromStdString(content));
        return path(name);
    }

private slots:
    void formats_data()
    {
        QTest::addColumn<QStringList>("options");
        QTest::addColumn<QString>("form");
        QTest::newRow("preset") << QStringList { "--data", kData } << "qdq";
        QTest::newRow("ort defaults") << QStringList { "--data", kData, "--ort-defaults" } << "qdq";
        QTest::newRow("operators") << QStringList { "--data", kData, "--format", "qoperator", "--activation-type",
            "uint8", "--per-channel" }
                                   << "qoperator";
        QTest::newRow("dynamic") << QStringList { "--format", "dynamic" } << "dynamic";
    }
    void formats()
    {
        QFETCH(QStringList, options);
        QFETCH(QString, form);
        QS_EXPECT(0, {}, QStringList { "quantize", kFloat, "-o", path("q.onnx") } + options);
        const json info = parsed(quantscope({ "info", path("q.onnx"), "--json", "-" }).out);
        QCOMPARE(QString::fromStdString(info["form"].get<std::string>()), form);
        const Outcome compared = quantscope({ "compare", kFloat, path("q.onnx"), "--data", kData, "--json", "-" });
        QCOMPARE(compared.code, 0);
        QVERIFY(parsed(compared.out)["outputs"][0]["sqnr_db"].get<double>() > 15);
    }

    /// The same numbers with and without a file between.
    void compareMakesTheSameModel()
    {
        const QStringList recipe { "--per-channel", "--method", "percentile", "--percentile", "99.9",
            "--tensor-calibrator", "image=percentile:98.5" };
        QS_EXPECT(0, {}, QStringList { "quantize", kFloat, "-o", path("same.onnx"), "--data", kData } + recipe);
        const json written
            = parsed(quantscope({ "compare", kFloat, path("same.onnx"), "--data", kData, "--json", "-" }).out);
        const json direct
            = parsed(quantscope(QStringList { "compare", kFloat, "--data", kData, "--json", "-" } + recipe).out);
        QCOMPARE(direct["outputs"][0]["sqnr_db"].get<double>(), written["outputs"][0]["sqnr_db"].get<double>());
        QCOMPARE(direct["activations"].size(), written["activations"].size());
    }

    void recipesAndRangesComeBack()
    {
        QS_EXPECT(0, {},
            { "quantize", kFloat, "-o", path("a.onnx"), "--data", kData, "--save-recipe", path("r.json"),
                "--save-ranges", path("ranges.json"), "--reduce-range", "--exclude", "re:^nothing is named so|." });
        QS_EXPECT(0, {},
            { "quantize", kFloat, "-o", path("b.onnx"), "--recipe", path("r.json"), "--ranges", path("ranges.json") });
        QCOMPARE(contentOf(path("b.onnx")), contentOf(path("a.onnx")));
        const json recipe = parsed(contentOf(path("r.json")));
        QCOMPARE(recipe["schema_version"].get<int>(), 1);
        QCOMPARE(recipe["reduce_range"].get<bool>(), true);
    }

    void likeAnExample()
    {
        QS_EXPECT(0, {},
            { "quantize", kFloat, "-o", path("example.onnx"), "--data", kData, "--per-channel", "--activation-type",
                "uint8", "--ort-defaults" });
        const Outcome o = quantscope({ "quantize", kFloat, "-o", path("like.onnx"), "--like", path("example.onnx"),
            "--save-recipe", path("like.json") });
        QCOMPARE(o.code, 0);
        QVERIFY2(o.out.contains("same nodes and constants"), o.out.constData());
        QCOMPARE(contentOf(path("like.onnx")), contentOf(path("example.onnx")));
        const json recipe = parsed(contentOf(path("like.json")));
        QCOMPARE(recipe["activation_type"].get<std::string>(), std::string("uint8"));
        QCOMPARE(recipe["per_channel"].get<bool>(), true);
        // Further options change it.
        QS_EXPECT(0, {},
            { "quantize", kFloat, "-o", path("like16.onnx"), "--like", path("example.onnx"), "--activation-type",
                "uint16" });
        QVERIFY(contentOf(path("like16.onnx")) != contentOf(path("example.onnx")));
    }

    void optionsReachTensorsOfTheirOwn_data()
    {
        QTest::addColumn<QString>("recipe"); ///< of the example
        QTest::addColumn<QString>("own"); ///< and what it says of one tensor
        QTest::addColumn<QStringList>("options");
        QTest::newRow("type of activations")
            << ""
            << "\"/block/relu/Relu_output_0\": {\"type\": \"uint8\"}" << QStringList { "--activation-type", "int16" };
        QTest::newRow("type of weights") << ""
                                         << "\"onnx::Conv_60\": {\"type\": \"uint8\"}"
                                         << QStringList { "--weight-type", "int16" };
        QTest::newRow("granularity") << "\"per_channel\": true, "
                                     << "\"onnx::Conv_60\": {\"type\": \"int8\"}" << QStringList { "--per-channel" };
    }
    /// What is given for all tensors is so of those, too, of which the example says otherwise.
    void optionsReachTensorsOfTheirOwn()
    {
        QFETCH(QString, recipe);
        QFETCH(QString, own);
        QFETCH(QStringList, options);
        std::vector<json> recipes;
        for (const QString& tensors : { QString(), own }) {
            const QString content = QString("{\"schema_version\": 1, %1\"tensors\": {%2}}").arg(recipe, tensors);
            const QString given = text("given.json", content.toStdString());
            QS_EXPECT(0, {}, { "quantize", kFloat, "-o", path("given.onnx"), "--data", kData, "--recipe", given });
            QS_EXPECT(0, {},
                QStringList({ "quantize", kFloat, "-o", path("all.onnx"), "--like", path("given.onnx"), "--save-recipe",
                    path("all.json") })
                    + options);
            recipes.push_back(parsed(contentOf(path("all.json"))));
        }
        QVERIFY2(recipes[0] == recipes[1], recipes[1].dump().c_str());
    }

    void jsonSummary()
    {
        const Outcome o = quantscope(
            { "quantize", kFloat, "-o", path("j.onnx"), "--data", kData, "--ort-defaults", "--json", "-" });
        QCOMPARE(o.code, 0);
        const json j = parsed(o.out);
        QCOMPARE(j["recipe"].get<std::string>(), std::string("onnxruntime"));
        QCOMPARE(j["format"].get<std::string>(), std::string("qdq"));
        QVERIFY(j["ranges"].get<int>() > 0 && j["nodes"].get<int>() > 0);
    }

    void scriptIsWritten()
    {
        QS_EXPECT(0, {},
            { "quantize", kFloat, "-o", path("s.onnx"), "--data", kData, "--ort-defaults", "--script", path("s.py") });
        const QByteArray script = contentOf(path("s.py"));
        QVERIFY(script.contains("quantize_static(") && script.contains("calibration_cache_path"));
        QVERIFY(script.contains("activation_type=QuantType.QInt8"));
    }

    void floatsOfEightBits()
    {
        QS_EXPECT(0, {},
            { "quantize", kFloat, "-o", path("f8.onnx"), "--data", kData, "--activation-type", "float8e4m3fn",
                "--weight-type", "float8e4m3fn", "--method", "distribution", "--script", path("f8.py"), "--quiet" });
        QVERIFY(contentOf(path("f8.py")).contains("weight_type=QuantType.QFLOAT8E4M3FN"));
        QVERIFY(contentOf(path("f8.py")).contains("CalibrationMethod.Distribution"));
    }

    void calibratesWithSamplesOfTheirOwn()
    {
        const auto compared = [&](const QStringList& more) {
            const Outcome o = quantscope(
                QStringList { "compare", kFloat, "--data", kData, "--ort-defaults", "--json", "-" } + more);
            return o.code == 0 ? parsed(o.out)["outputs"] : json();
        };
        const json plain = compared({});
        QVERIFY(!plain.empty());
        QVERIFY(compared({ "--calibration-data", kData }) == plain);
        const json few = compared({ "--calibration-data", kData, "--calibration-limit", "1" });
        QVERIFY(!few.empty() && few != plain);
        QS_EXPECT(2, {}, { "compare", kFloat, "--data", kData, "--ort-defaults", "--calibration-limit", "1" });
        QS_EXPECT(2, {},
            { "compare", kFloat, "--data", kData, "--ort-defaults", "--calibration-data", kData, "--shard", "1/2",
                "--state", path("s.qstate") });
        QS_EXPECT(0, {},
            { "sensitivity", kFloat, "--data", kData, "--ort-defaults", "--calibration-data", kData, "--by", "type",
                "--quiet" });
    }

    void refusals_data()
    {
        QTest::addColumn<int>("code");
        QTest::addColumn<QStringList>("words");
        QTest::addColumn<QStringList>("options");
        QTest::newRow("no data") << 2 << QStringList { "--data" } << QStringList { kFloat };
        QTest::newRow("quantized already") << 3 << QStringList { "already" } << QStringList { kQdq, "--data", kData };
        QTest::newRow("no such file") << 3 << QStringList { "none.onnx" }
                                      << QStringList { "none.onnx", "--data", kData };
        QTest::newRow("unknown node") << 3 << QStringList { "no-such-node" }
                                      << QStringList { kFloat, "--data", kData, "--exclude", "no-such-node" };
        QTest::newRow("unknown type") << 3 << QStringList { "no operator is known as 'Bogus'" }
                                      << QStringList { kFloat, "--data", kData, "--op-types", "Conv,Bogus" };
        QTest::newRow("unknown method") << 2 << QStringList { "--method" }
                                        << QStringList { kFloat, "--data", kData, "--method", "best" };
        QTest::newRow("percentile") << 2 << QStringList { "--percentile" }
                                    << QStringList { kFloat, "--data", kData, "--percentile", "101" };
        for (const char* wrong : { "input", "=minmax", "input=best", "input=entropy:3", "input=percentile:101" })
            QTest::addRow("tensor calibrator %s", wrong)
                << 2 << QStringList { "--tensor-calibrator" }
                << QStringList { kFloat, "--data", kData, "--tensor-calibrator", wrong };
        QTest::newRow("block size") << 2 << QStringList { "--block-size" }
                                    << QStringList { kFloat, "--format", "weight-only", "--block-size", "17" };
        QTest::newRow("type") << 2 << QStringList { "--weight-type" }
                              << QStringList { kFloat, "--data", kData, "--weight-type", "int7" };
        QTest::newRow("types together") << 2 << QStringList { "uint8" }
                                        << QStringList { kFloat, "--data", kData, "--weight-type", "uint8" };
        QTest::newRow("two starts") << 2 << QStringList { "--ort-defaults" }
                                    << QStringList { kFloat, "--data", kData, "--ort-defaults", "--recipe", "r.json" };
        QTest::newRow("no such recipe") << 3 << QStringList { "none.json" }
                                        << QStringList { kFloat, "--data", kData, "--recipe", "none.json" };
        QTest::newRow("like a float model")
            << 3 << QStringList { "not quantized" } << QStringList { kFloat, "--like", kFloat };
        QTest::newRow("like nothing") << 3 << QStringList { "none.onnx" }
                                      << QStringList { kFloat, "--like", "none.onnx" };
        QTest::newRow("two examples") << 2 << QStringList { "--like" }
                                      << QStringList { kFloat, "--like", kQdq, "--ort-defaults" };
        QTest::newRow("preparation") << 2 << QStringList { "--preparation", "fuse_gelu" }
                                     << QStringList { kFloat, "--data", kData, "--preparation", "fuse_everything" };
        QTest::newRow("no such tensor") << 3 << QStringList { "no-such-tensor", "not in the model" }
                                        << QStringList { kFloat, "--data", kData, "--recipe",
                                               text("tensors.json",
                                                   R"({"tensors":{"no-such-tensor":{"scale":1,"zero_point":0}}})") };
        QTest::newRow("no such key") << 3 << QStringList { "unknown key", "perchannel" }
                                     << QStringList { kFloat, "--data", kData, "--recipe",
                                            text("key.json", R"({"perchannel":true})") };
        QTest::newRow("float8 of activations alone")
            << 2 << QStringList { "float8e4m3fn for activations and weights" }
            << QStringList { kFloat, "--data", kData, "--activation-type", "float8e4m3fn" };
        QTest::newRow("float8 with ranges") << 3 << QStringList { "deviation", "--method distribution" }
                                            << QStringList { kFloat, "--data", kData, "--activation-type",
                                                   "float8e4m3fn", "--weight-type", "float8e4m3fn" };
        QTest::newRow("float8 that is not written")
            << 2 << QStringList { "--weight-type", "float8e5m2" }
            << QStringList { kFloat, "--data", kData, "--weight-type", "float8e5m2" };
        QTest::newRow("clips without equalization")
            << 2 << QStringList { "--equalize" } << QStringList { kFloat, "--data", kData, "--equalize-clips" };
        QTest::newRow("float8 in a recipe") << 2 << QStringList { "float8" }
                                            << QStringList { kFloat, "--data", kData, "--recipe",
                                                   text("float8.json", R"({"weight_type":"float8e4m3fn"})") };
        QTest::newRow("completed operators")
            << 2 << QStringList { "qdq" }
            << QStringList { kFloat, "--data", kData, "--format", "qoperator", "--complete-overrides" };
        QTest::newRow("cache and ranges") << 2 << QStringList { "--ranges", "--calibration-cache" }
                                          << QStringList { kFloat, "--ranges", text("idle.json", "{}"),
                                                 "--calibration-cache", path("idle.calibration") };
        QTest::newRow("no cache") << 3 << QStringList { "foreign.calibration", "not overwritten" }
                                  << QStringList { kFloat, "--data", kData, "--calibration-cache",
                                         text("foreign.calibration", "what somebody needs") };
        QTest::newRow("no samples") << 2 << QStringList { "--limit" }
                                    << QStringList { kFloat, "--data", kData, "--limit", "0" };
        OnnxBytes net;
        net.input("x", { 2, 8 }).floats("w", { 8, 8 }, std::vector<float>(64, 0.5f)).floats("half", {}, { 0.5f });
        net.node("Sub", { "x", "half" }, { "d" }).node("Sqrt", { "d" }, { "root" });
        net.node("MatMul", { "root", "w" }, { "y" }).output("y", { 2, 8 });
        const QString nan = text("nan.onnx", net.model());
        for (const char* method : { "minmax", "percentile", "entropy" })
            QTest::newRow((std::string("NaN, ") + method).c_str())
                << 3 << QStringList { "'root'", "NaN", "sample 0" }
                << QStringList { nan, "--data", "random:2", "--method", method };
        QTest::newRow("NaN, ort defaults") << 3 << QStringList { "'root'", "NaN", "sample 0" }
                                           << QStringList { nan, "--data", "random:2", "--ort-defaults" };
        OnnxBytes old;
        old.input("x", { 1, 1, 2, 2 })
            .floats("scales", { 4 }, { 1, 1, 2, 2 })
            .node("Upsample", { "x", "scales" }, { "u" });
        old.node("MatMul", { "u", "u" }, { "y" }).output("y", { 1, 1, 4, 4 });
        QTest::newRow("old opset that cannot be raised")
            << 3 << QStringList { "Upsample", "newer opset" }
            << QStringList { text("old.onnx", old.model(9)), "--data", "random:2" };
        QTest::newRow("no ranges") << 3 << QStringList { "calibration cache" }
                                   << QStringList { kFloat, "--ranges", text("few.json", "{}") };
        QTest::newRow("no such ranges") << 3 << QStringList { "none.json" }
                                        << QStringList { kFloat, "--ranges", "none.json" };
    }
    void refusals()
    {
        QFETCH(int, code);
        QFETCH(QStringList, words);
        QFETCH(QStringList, options);
        const QString out = path("refused.onnx");
        QS_EXPECT(code, words, QStringList { "quantize" } + options + QStringList { "-o", out });
        QVERIFY(!QFile::exists(out));
    }

    /// As in a decoder that begins without a past.
    void emptyTensors()
    {
        OnnxBytes none;
        none.input("x", { 0, 8 }).floats("w", { 8, 8 }, std::vector<float>(64, 0.5f));
        none.node("MatMul", { "x", "w" }, { "y" }).output("y", { 0, 8 });
        const QString model = text("none.onnx", none.model()), out = path("none_q.onnx");
        for (const char* method : { "minmax", "moving-average", "percentile", "entropy", "mse" }) {
            const QStringList args { "quantize", model, "-o", out, "--data", "random:2", "--method", method };
            QS_EXPECT(0, (QStringList { "'x'", "no value" }), args);
        }
    }

    /// A constant of the model has the name that the scale of a tensor gets.
    void namesOfTheQuantizer()
    {
        OnnxBytes all; // each name is one of the quantizer's
        all.input("x", { 2, 8 }).floats("x_scale", { 8 }, { 1, 2, 3, 4, 5, 6, 7, 8 });
        all.floats("w", { 8, 8 }, std::vector<float>(64, 0.5f)).floats("m_zero_point", { 8 }, std::vector<float>(8, 3));
        all.floats("a_DequantizeLinear_Output", { 8 }, std::vector<float>(8, 2));
        all.node("Mul", { "x", "x_scale" }, { "m" }).node("MatMul", { "m", "w" }, { "w_quantized" });
        all.node("Add", { "w_quantized", "m_zero_point" }, { "a" });
        all.node("Mul", { "a", "a_DequantizeLinear_Output" }, { "m_QuantizeLinear_Output" });
        all.node("MatMul", { "m_QuantizeLinear_Output", "w" }, { "y" }).output("y", { 2, 8 });
        const QString many = text("many.onnx", all.model(17)), manyOut = path("many_q.onnx");
        for (const char* format : { "qdq", "qoperator", "dynamic", "weight-only" }) {
            const QStringList how { "quantize", many, "-o", manyOut, "--data", "random:4", "--format", format };
            QS_EXPECT(0, {}, how);
            const json far = parsed(quantscope({ "compare", many, manyOut, "--data", "random:4", "--json", "-" }).out);
            const json& db = far["outputs"][0]["sqnr_db"]; // null: exact
            QVERIFY2(db.is_null() || db.get<double>() > 20, format);
        }
        const auto net = [](bool constant) {
            OnnxBytes bytes;
            bytes.input("x", { 2, 8 }).floats("w", { 8, 8 }, std::vector<float>(64, 0.5f));
            if (constant)
                bytes.floats("x_scale", { 8 }, { 1, 2, 3, 4, 5, 6, 7, 8 });
            else
                bytes.input("x_scale", { 8 });
            bytes.node("Mul", { "x", "x_scale" }, { "m" }).node("MatMul", { "m", "w" }, { "y" });
            return bytes.output("y", { 2, 8 }).model(17);
        };
        const QString model = text("names.onnx", net(true)), out = path("names_q.onnx");
        const QStringList args { "quantize", model, "-o", out, "--data", "random:4" };
        QS_EXPECT(0, (QStringList { "'x_scale'", "'x_scale_1'" }), args);
        const json compared = parsed(quantscope({ "compare", model, out, "--data", "random:4", "--json", "-" }).out);
        QVERIFY(compared["outputs"][0]["sqnr_db"].get<double>() > 30);
        const QStringList taken { "quantize", text("taken.onnx", net(false)), "-o", path("taken_q.onnx"), "--data",
            "random:4" };
        QS_EXPECT(3, QStringList { "'x_scale'" }, taken);
    }

    /// Scales per channel came with opset 13: the preset raises it, ONNX Runtime's defaults are told of.
    void channelsNeedAnOpset()
    {
        OnnxBytes net;
        net.input("x", { 2, 8 }).floats("w", { 8, 8 }, std::vector<float>(64, 0.5f));
        net.node("MatMul", { "x", "w" }, { "y" }).output("y", { 2, 8 });
        const QString model = text("opset11.onnx", net.model(11)), out = path("opset11_q.onnx");
        const QStringList args { "quantize", model, "-o", out, "--data", "random:2", "--per-channel" };
        const auto opset = [&] {
            return parsed(quantscope({ "info", out, "--json", "-" }).out)["opset_imports"][""].get<int>();
        };
        QS_EXPECT(0, {}, args);
        QCOMPARE(opset(), 13);
        const QStringList defaults = args + QStringList { "--ort-defaults" };
        const QStringList words { "will not load", "opset 13" };
        QS_EXPECT(0, words, defaults);
        QCOMPARE(opset(), 11);
        // Whoever opens such a file later is told, too.
        QS_EXPECT(0, words, QStringList { "info", out });
        QS_EXPECT(0, words, (QStringList { "run", out, "--data", "random:2" }));
        QS_EXPECT(0, words, (QStringList { "compare", model, out, "--data", "random:2" }));
    }

    void idleOptions_data()
    {
        QTest::addColumn<QStringList>("options");
        QTest::addColumn<QString>("word");
        const auto row
            = [](const char* word, const QStringList& options) { QTest::newRow(word) << options << QString(word); };
        row("--percentile", { "--percentile", "99" });
        row("--bins", { "--method", "mse", "--bins", "64" });
        row("--smooth-quant-alpha", { "--smooth-quant-alpha", "0.3" });
        row("--activation-type", { "--format", "dynamic", "--activation-type", "int8" });
        row("--per-channel", { "--format", "weight-only", "--per-channel" });
        row("quantizes nothing", { "--exclude", "*" });
        row("", { "--method", "percentile", "--percentile", "99", "--per-channel" });
    }
    void idleOptions()
    {
        QFETCH(QStringList, options);
        QFETCH(QString, word);
        const Outcome o = quantscope(
            QStringList { "quantize", kFloat, "-o", path("idle.onnx"), "--data", kData, "--limit", "3" } + options);
        QCOMPARE(o.code, 0);
        QVERIFY2(word.isEmpty() ? o.err.isEmpty() : o.err.contains(word.toUtf8()), o.err.constData());
    }

    void calibratorsByPattern()
    {
        const QStringList base { "quantize", kFloat, "--data", kData, "-o" };
        const auto made = [&](const char* name, const QStringList& more) {
            quantscope(base + QStringList { path(name) } + more);
            return contentOf(path(name));
        };
        const QByteArray all = made("all.onnx", { "--tensor-calibrator", "*=mse" });
        QVERIFY(!all.isEmpty());
        QVERIFY(all == made("mse.onnx", { "--method", "mse" }));
        QVERIFY(all != made("one.onnx", { "--tensor-calibrator", "re:^image$=mse" }));
        const QStringList none = base + QStringList { path("no.onnx"), "--tensor-calibrator", "nothing*=mse" };
        QS_EXPECT(3, QStringList { "nothing" }, none);
    }

    /// Opsets that know no pairs are raised on the way.
    void oldOpsets()
    {
        OnnxBytes old;
        old.input("x", { 2, 8 }).floats("w", { 8, 8 }, std::vector<float>(64, 0.5f));
        old.node("MatMul", { "x", "w" }, { "m" }).node("Dropout", { "m" }, { "d" }).node("Relu", { "d" }, { "y" });
        old.output("y", { 2, 8 });
        const QString model = text("opset8.onnx", old.model(8));
        QS_EXPECT(0, {}, { "quantize", model, "-o", path("opset.onnx"), "--data", "random:2", "--ort-defaults" });
        const json info = parsed(quantscope({ "info", path("opset.onnx"), "--json", "-" }).out);
        QVERIFY(info["opset_imports"][""].get<int>() >= 10);
        QS_EXPECT(0, {}, { "compare", model, path("opset.onnx"), "--data", "random:2" });
    }

    void calibrationCache()
    {
        const QString cache = path("digits.calibration");
        const QStringList cached { "--data", kData, "--method", "percentile", "--calibration-cache", cache };
        QS_EXPECT(0, {}, { "quantize", kFloat, "-o", path("none.onnx"), "--data", kData, "--method", "percentile" });
        const auto used = [&](const char* out, const QStringList& more = {}) {
            const Outcome o
                = quantscope(QStringList { "quantize", kFloat, "-o", path(out), "--json", "-" } + cached + more);
            return o.code == 0 && parsed(o.out)["calibration_cache_used"].get<bool>();
        };
        QVERIFY(!used("first.onnx"));
        const QByteArray kept = contentOf(cache);
        QVERIFY(!kept.isEmpty());
        QVERIFY(used("second.onnx"));
        QVERIFY(used("channels.onnx", { "--per-channel" })); // which no calibration depends on
        QCOMPARE(contentOf(cache), kept);
        QCOMPARE(contentOf(path("first.onnx")), contentOf(path("none.onnx")));
        QCOMPARE(contentOf(path("second.onnx")), contentOf(path("none.onnx")));
        const QStringList compare { "compare", kFloat, "--data", kData, "--method", "percentile", "--json", "-" };
        const json with = parsed(quantscope(compare + QStringList { "--calibration-cache", cache }).out);
        QCOMPARE(QString::fromStdString(with["outputs"].dump()),
            QString::fromStdString(parsed(quantscope(compare).out)["outputs"].dump()));
        // One calibration serves every method, and needs no samples then.
        const QStringList methods[] { { "minmax" }, { "entropy" }, { "mse" }, { "percentile", "--percentile", "99" },
            { "percentile", "--no-symmetric-activations" } };
        for (const QStringList& method : methods) {
            const QStringList how = QStringList { "quantize", kFloat, "--method" } + method;
            const QStringList run { "-o", path("run.onnx"), "--data", kData };
            const QStringList keep { "-o", path("kept.onnx"), "--calibration-cache", cache };
            QS_EXPECT(0, {}, how + run);
            QS_EXPECT(0, QStringList { "read from it" }, how + keep);
            QCOMPARE(contentOf(path("kept.onnx")), contentOf(path("run.onnx")));
        }
        QCOMPARE(contentOf(cache), kept);
        OnnxBytes other;
        other.input("x", { 2, 8 }).floats("w", { 8, 8 }, std::vector<float>(64, 0.5f));
        other.node("MatMul", { "x", "w" }, { "y" }).output("y", { 2, 8 });
        const QStringList foreign { "quantize", text("other.onnx", other.model(13)), "-o", path("no.onnx") };
        const QStringList reasons { cache, "another model", "--data" };
        QS_EXPECT(3, reasons, foreign + QStringList { "--calibration-cache", cache });
        QS_EXPECT(2, QStringList { "--data" },
            { "quantize", kFloat, "-o", path("no.onnx"), "--calibration-cache", path("not.there") });
        // Other samples are another calibration, which takes the file's place; so does what is damaged.
        QVERIFY(!used("fewer.onnx", { "--limit", "5" }));
        QVERIFY(contentOf(cache) != kept);
        writeText(cache, kept.left(kept.size() / 2));
        QVERIFY(!used("damaged.onnx"));
        QCOMPARE(contentOf(cache), kept);
    }

    void overInputs()
    {
        QVERIFY(QFile::copy(kFloat, path("mine.onnx")));
        const QByteArray before = contentOf(path("mine.onnx"));
        QS_EXPECT(2, QStringList { "overwrite" },
            { "quantize", path("mine.onnx"), "-o", path("mine.onnx"), "--data", kData });
        QS_EXPECT(3, {}, { "quantize", path("mine.onnx"), "-o", path("no/folder/q.onnx"), "--data", kData });
        QCOMPARE(contentOf(path("mine.onnx")), before);
    }

    void recipeOptionsNeedNoQuantizedFile()
    {
        QS_EXPECT(2, QStringList { "recipe" }, { "compare", kFloat, "--data", kData });
        QS_EXPECT(2, {}, { "compare", kFloat, kQdq, "--data", kData, "--per-channel" });
    }
};

} // namespace

int qs::test::runQuantizeTests(int argc, char** argv)
{
    QuantizeTests test;
    return QTest::qExec(&test, argc, argv);
}

#include "quantize_test.moc"
