// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/arrays/npz_writer.h"
#include "tests/cli/command_line.h"
#include "tests/cli/onnx_bytes.h"
#include "tests/cli/runners.h"

#include <QTemporaryDir>
#include <QtTest>

#include <nlohmann/json.hpp>

#include <random>

using namespace qs::test;
using nlohmann::json;

namespace {

constexpr int64_t kWords = 12, kWidth = 32, kLength = 6;

std::vector<float> drawn(size_t count, unsigned seed)
{
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    std::vector<float> values(count);
    for (float& v : values)
        v = normal(random);
    return values;
}

/// A language model of a few words in a folder, with prompts.
struct LanguageFolder {
    QTemporaryDir folder;
    QString file(const char* name) const { return folder.filePath(name); }
    QString write() const
    {
        constexpr int64_t kInt64 = 7;
        OnnxBytes m;
        m.input("input_ids", { -1, kLength }, kInt64).floats("table", { kWords, kWidth }, drawn(kWords * kWidth, 1));
        m.floats("w", { kWidth, kWidth }, drawn(kWidth * kWidth, 2));
        m.floats("head", { kWidth, kWords }, drawn(kWidth * kWords, 3));
        m.node("Gather", { "table", "input_ids" }, { "word" }).node("MatMul", { "word", "w" }, { "more" });
        m.node("Tanh", { "more" }, { "bent" }).node("MatMul", { "bent", "head" }, { "logits" });
        writeText(file("model.onnx"), QByteArray::fromStdString(m.output("logits", { -1, kLength, kWords }).model()));
        writeText(file("genai_config.json"), R"({"model": {"decoder": {"filename": "model.onnx"}}})");
        auto writer = qs::NpzWriter::create(file("data.npz").toStdString(), { "input_ids" }, 3);
        bool good = writer.ok();
        for (size_t p = 0; good && p < 3; ++p) {
            std::vector<int64_t> ids;
            for (size_t i = 0; i < size_t(kLength); ++i)
                ids.push_back(int64_t((5 * p + i * i) % size_t(kWords)));
            good = writer->add(p, { qs::Tensor::of<int64_t>({ 1, kLength }, ids) }).ok();
        }
        return good && writer->finish().ok() ? QString() : QStringLiteral("the prompts cannot be written");
    }
    QStringList command() const
    {
        return { "sensitivity", file("model.onnx"), "--data", file("data.npz"), "--price", "bytes", "--weight-type",
            "int4", "--block-size", "16" };
    }
};

class SensitivityTests : public QObject {
    Q_OBJECT

private slots:
    void ranking_data()
    {
        QTest::addColumn<QString>("by");
        for (const char* by : { "node", "tensor", "type" })
            QTest::newRow(by) << by;
    }
    void ranking()
    {
        QFETCH(QString, by);
        const QStringList command { "sensitivity", kFloat, "--data", kData, "--limit", "8", "--by", by, "--json", "-" };
        const Outcome outcome = quantscope(command);
        QCOMPARE(outcome.code, 0);
        const json document = parsed(outcome.out);
        QCOMPARE(document["schema_version"].get<int>(), 1);
        QVERIFY(document["units"].size() > 1);
        double shares = 0;
        for (const json& unit : document["units"]) {
            QCOMPARE(QString::fromStdString(unit["kind"].get<std::string>()), by);
            QVERIFY(!unit["name"].get<std::string>().empty());
            for (const char* key : { "output_sqnr_alone_db", "output_sqnr_without_db" })
                QVERIFY(unit[key].is_number() || unit[key].is_null());
            shares += unit["mac_share"].get<double>();
        }
        QVERIFY(std::abs(shares - 1) < 1e-9);
        const json& first = document["pareto"][0];
        QVERIFY(first["excluded"].empty());
        QCOMPARE(first["int8_mac_share"].get<double>(), 1.0);
        QCOMPARE(first["output_sqnr_db"], document["output_sqnr_db"]);
        QVERIFY(first["accuracy"].is_number());
        QCOMPARE(document["pareto"].back()["int8_mac_share"].get<double>(), 0.0);
    }

    void equalsCompare()
    {
        const json document = parsed(
            quantscope({ "sensitivity", kFloat, "--data", kData, "--ort-defaults", "--json", "-", "--threads", "2" })
                .out);
        const json compared
            = parsed(quantscope({ "compare", kFloat, "--data", kData, "--ort-defaults", "--json", "-" }).out);
        QVERIFY(std::abs(document["output_sqnr_db"].get<double>() - compared["outputs"][0]["sqnr_db"].get<double>())
            < 1e-9);
    }

    void priceOfWeights()
    {
        const LanguageFolder files;
        QCOMPARE(files.write(), QString());
        const json all = parsed(quantscope(files.command() + QStringList { "--json", "-" }).out);
        QCOMPARE(all["types"].dump(), std::string(R"(["int4","int8","float"])"));
        QCOMPARE(all["judged_by"].get<std::string>(), std::string("kl_mean"));
        QCOMPARE(all["units"].size(), size_t(2));
        QVERIFY(all["chosen"].is_null());
        const json& second = all["pareto"][1];
        QVERIFY(QDir(files.folder.path()).mkdir("out"));
        const QStringList limit { "--max-bytes", QString::number(second["bytes"].get<int64_t>()), "-o",
            files.file("out/model.onnx"), "--save-recipe", files.file("r.json"), "--builder-options",
            files.file("b.json"), "--json", "-" };
        const Outcome outcome = quantscope(files.command() + limit);
        QCOMPARE(outcome.code, 0);
        const json chosen = parsed(outcome.out)["chosen"];
        QCOMPARE(chosen.dump(), second.dump());
        QCOMPARE(contentOf(files.file("out/genai_config.json")), contentOf(files.file("genai_config.json")));
        QVERIFY(parsed(contentOf(files.file("b.json"))).contains("target_options"));
        // The recipe makes the same file, which has that KL.
        const QString made = files.file("made.onnx");
        QCOMPARE(
            quantscope({ "quantize", files.file("model.onnx"), "-o", made, "--recipe", files.file("r.json") }).code, 0);
        QCOMPARE(contentOf(made), contentOf(files.file("out/model.onnx")));
        const json compared = parsed(
            quantscope({ "compare", files.file("model.onnx"), made, "--data", files.file("data.npz"), "--json", "-" })
                .out);
        const double kl = compared["language"]["kl_mean"].get<double>();
        QVERIFY(std::abs(kl - chosen["kl_mean"].get<double>()) <= 1e-12);
        const Outcome table = quantscope(files.command() + QStringList { "--max-kl", "0.01" });
        QVERIFY(table.code == 0 && table.out.contains("bytes int8") && table.out.contains("chosen: "));
        const QStringList renamed { "--units-only", "--max-kl", "1000", "-o", files.file("out/other.onnx"), "--json",
            "-" };
        const json warnings = parsed(quantscope(files.command() + renamed).out)["warnings"];
        QVERIFY(std::ranges::any_of(warnings, [](const json& warning) {
            return QString::fromStdString(warning.get<std::string>()).contains("'other.onnx'");
        }));
    }

    void badPrice_data()
    {
        QTest::addColumn<int>("code");
        QTest::addColumn<QStringList>("options");
        QTest::newRow("other price") << 2 << QStringList { "--price", "time" };
        QTest::newRow("no price") << 2 << QStringList { "--max-bytes", "1000" };
        QTest::newRow("no bytes") << 2 << QStringList { "--price", "bytes", "--max-bytes", "0" };
        QTest::newRow("no KL") << 2 << QStringList { "--price", "bytes", "--max-kl", "-1" };
        QTest::newRow("two limits") << 2 << QStringList { "--price", "bytes", "--max-kl", "1", "--max-bytes", "9999" };
        QTest::newRow("nothing chosen") << 2 << QStringList { "--price", "bytes", "-o", "never.onnx" };
        QTest::newRow("no time") << 2 << QStringList { "--price", "bytes", "--seconds", "0" };
        QTest::newRow("by tensor") << 2 << QStringList { "--price", "bytes", "--by", "tensor" };
        QTest::newRow("other format") << 2 << QStringList { "--price", "bytes", "--format", "qdq" };
        QTest::newRow("too few bytes") << 3 << QStringList { "--price", "bytes", "--max-bytes", "10" };
        QTest::newRow("SQNR of tokens") << 3 << QStringList { "--price", "bytes", "--min-sqnr", "10" };
        QTest::newRow("no such weight") << 3 << QStringList { "--price", "bytes", "--units", "there is none" };
    }
    void badPrice()
    {
        QFETCH(int, code);
        QFETCH(QStringList, options);
        const LanguageFolder files;
        QCOMPARE(files.write(), QString());
        const QStringList command { "sensitivity", files.file("model.onnx"), "--data", files.file("data.npz") };
        QS_EXPECT(code, {}, command + options);
        // No product with a constant matrix at all.
        QS_EXPECT(3, { "MatMul" }, { "sensitivity", kFloat, "--data", kData, "--price", "bytes" });
    }

    void badUse_data()
    {
        QTest::addColumn<int>("code");
        QTest::addColumn<QStringList>("options");
        QTest::newRow("unknown kind") << 2 << QStringList { "--by", "layer" };
        QTest::newRow("tensors of operators on codes")
            << 2 << QStringList { "--by", "tensor", "--format", "qoperator", "--activation-type", "uint8" };
        QTest::newRow("no such unit") << 3 << QStringList { "--units", "there is none" };
        QTest::newRow("no such excluded node") << 3 << QStringList { "--exclude", "there is none" };
        QTest::newRow("memory limit") << 3 << QStringList { "--memory-limit", "1000" };
    }
    void badUse()
    {
        QFETCH(int, code);
        QFETCH(QStringList, options);
        const Outcome o = quantscope(QStringList { "sensitivity", kFloat, "--data", kData } + options);
        QCOMPARE(o.code, code);
        QVERIFY(o.err.startsWith("error: ") && o.err.count('\n') == 1);
    }
};

} // namespace

int qs::test::runSensitivityTests(int argc, char** argv)
{
    SensitivityTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "sensitivity_test.moc"
