// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/cli/command_line.h"
#include "tests/cli/onnx_bytes.h"
#include "tests/cli/runners.h"
#include "tests/datasource/array_bytes.h"

#include <QTemporaryDir>
#include <QtTest>

#include <nlohmann/json.hpp>

using namespace qs::test;
using namespace qs::testing;
using nlohmann::json;

namespace {

/// State from sample to sample, positions, names of classes, and what is said of files that are written.
class SequencesTests : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    QString file(const QString& name) const { return m_folder.filePath(name); }

    /// s' = s + x, y = s'
    QString counter()
    {
        OnnxBytes m;
        m.input("x", { 1, 2 }).input("s", { 1, 2 }).node("Add", { "x", "s" }, { "t" });
        m.node("Identity", { "t" }, { "y" }).output("y", { 1, 2 }).output("t", { 1, 2 });
        writeText(file("counter.onnx"), QByteArray::fromStdString(m.model()));
        return file("counter.onnx");
    }

    QString data(const QString& name, const Members& members)
    {
        writeZip(file(name).toStdString(), members, Packing::Stored);
        return file(name);
    }

    json saved(const QString& samples)
    {
        const Outcome o
            = quantscope({ "compare", counter(), counter(), "--data", samples, "--carry", "t=s", "--json", "-" });
        if (o.code != 0)
            qFatal("%s", o.err.constData());
        return parsed(o.out);
    }

private slots:
    void initialStatesComeFromTheData()
    {
        const std::string x = npy("<f4", "(3, 2)", bytesOf(std::vector<float>(6, 1.0f)));
        const std::string s = npy("<f4", "(1, 2)", bytesOf(std::vector<float> { 10, 20 }));
        const json zero = saved(data("zero.npz", { { "x.npy", x } }));
        const json given = saved(data("given.npz", { { "x.npy", x }, { "s.npy", s } }));
        QCOMPARE(zero["activations"][0]["name"], json("x"));
        const auto highest = [](const json& d) {
            for (const json& a : d["activations"])
                if (a["name"] == "t")
                    return a["float_range"][1].get<double>();
            return -1.0;
        };
        QCOMPARE(highest(zero), 3.0);
        QCOMPARE(highest(given), 23.0);
        QCOMPARE(given["network"]["same"], json(true)); // the proof begins with the same state
        const Outcome run
            = quantscope({ "run", counter(), "--data", file("given.npz"), "--carry", "t=s", "--out", file("y.npz") });
        QVERIFY2(run.code == 0 && !run.err.contains("not used"), run.err.constData());
        const std::string rows = npy("<f4", "(3, 2)", bytesOf(std::vector<float> { 10, 20, 0, 0, 0, 0 }));
        const Outcome many = quantscope({ "run", counter(), "--data",
            data("many.npz", { { "x.npy", x }, { "s.npy", rows } }), "--carry", "t=s", "--out", file("y.npz") });
        QVERIFY2(many.code == 0 && many.err.contains("only the first item"), many.err.constData());
        const std::string wide = npy("<f4", "(1, 3)", bytesOf(std::vector<float>(3)));
        QS_EXPECT(3, QStringList { "'s'" },
            { "run", counter(), "--data", data("wide.npz", { { "x.npy", x }, { "s.npy", wide } }), "--carry", "t=s" });
    }

    void namesThatDoNotFitAreRefused()
    {
        const auto with = [&](const QByteArray& names) {
            writeText(file("names.txt"), names);
            return QStringList { "compare", kFloat, kQdq, "--data", kData, "--class-names", file("names.txt") };
        };
        QS_EXPECT(0, QStringList(), with("a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n"));
        QS_EXPECT(3, (QStringList { "names.txt", "9 classes", "10" }), with("a\nb\nc\nd\ne\nf\ng\nh\ni\n"));
        QS_EXPECT(3, (QStringList { "11 classes" }), with("a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\n"));
        QS_EXPECT(0, QStringList(), with("{\"3\": \"three\"}"));
        QS_EXPECT(3, QStringList { "13 classes" }, with("{\"12\": \"twelve\"}"));
    }

    void rangesGoByTheEndOfTheName()
    {
        for (const auto& [end, words] : { std::pair("json", "calibration cache (JSON)"),
                 std::pair("cache", "calibration table"), std::pair("flatbuffers", "flatbuffers") }) {
            const QString ranges = file(QStringLiteral("ranges.") + QLatin1String(end));
            const Outcome o
                = quantscope({ "quantize", kFloat, "-o", file("q.onnx"), "--data", kData, "--save-ranges", ranges });
            QVERIFY2(o.code == 0 && o.out.contains(words), o.out.constData());
        }
    }

    void float8NeedsBasicOptimizations()
    {
        const QStringList float8 { "quantize", kFloat, "-o", file("f8.onnx"), "--data", kData, "--activation-type",
            "float8e4m3fn", "--weight-type", "float8e4m3fn", "--method", "distribution" };
        const Outcome o = quantscope(float8);
        QVERIFY2(o.code == 0 && o.err.contains("ORT_ENABLE_BASIC"), o.err.constData());
    }

    void tasksThatAreTold()
    {
        const QStringList compare { "compare", kFloat, kQdq, "--data", kData, "--limit", "12", "--json", "-" };
        const json plain = parsed(quantscope(compare).out)["outputs"][0];
        const QString name = QString::fromStdString(plain["name"].get<std::string>());
        QCOMPARE(plain["task"]["kind"], json("classes"));
        QCOMPARE(plain["task"]["told"], json(false));
        QCOMPARE(plain["task"]["agreement"], plain["top1_agreement"]);
        const auto with = [&](const QStringList& options) { return compare + options; };
        const json told = parsed(quantscope(with({ "--task", name + "=values" })).out)["outputs"][0];
        QVERIFY(told["task"] == json::parse(R"({"kind":"values","told":true,"agreement":null})"));
        QVERIFY(told["top1_agreement"].is_null() && told["sqnr_db"] == plain["sqnr_db"]);
        QS_EXPECT(2, QStringList { "boxes:yolov8" }, with({ "--task", name + "=boxes" }));
        QS_EXPECT(2, QStringList { "OUTPUT=TASK" }, with({ "--task", "values" }));
        QS_EXPECT(2, QStringList { "--box-score" }, with({ "--box-score", "1.5" }));
        QS_EXPECT(3, (QStringList { "nothing", name }), with({ "--task", "nothing=classes" }));
        QS_EXPECT(3, (QStringList { name, "cannot be mask" }), with({ "--task", name + "=mask" }));
        for (const char* part : { "1/2", "2/2" })
            QCOMPARE(quantscope(with({ "--task", name + "=values", "--shard", part, "--state",
                                    file(QLatin1String(part[0] == '1' ? "1.qstate" : "2.qstate")) }))
                         .code,
                0);
        const json merged = parsed(quantscope({ "merge", file("2.qstate"), file("1.qstate"), "--json", "-" }).out);
        QVERIFY(merged["outputs"][0] == told);
    }

    void klOfOutputs()
    {
        const Outcome o = quantscope({ "compare", kFloat, kQdq, "--data", kData, "--json", "-" });
        const json output = parsed(o.out)["outputs"][0];
        QVERIFY(output["kl_mean"].get<double>() >= 0 && output["kl_max"] >= output["kl_mean"]);
        QCOMPARE(output["positions"].get<double>(), parsed(o.out)["samples"].get<double>());
    }
};

} // namespace

int qs::test::runSequencesTests(int argc, char** argv)
{
    SequencesTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "sequences_test.moc"
