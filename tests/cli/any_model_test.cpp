// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/cli/command_line.h"
#include "tests/cli/onnx_bytes.h"
#include "tests/cli/runners.h"

#include <QTemporaryDir>
#include <QtTest>

#include <nlohmann/json.hpp>

using namespace qs::test;
using nlohmann::json;

namespace {

const QStringList kRandom { "--data", "random:2", "--shape", "x=2x3" };

/// A file of the future: newer IR and operator set than any we know, and an operator of a strange domain on a branch of
/// its own.
std::string futureModel()
{
    return OnnxBytes()
        .input("x", { -1, 3 })
        .node("Relu", { "x" }, { "y" })
        .node("Frobnicate", { "x" }, { "z" }, "org.example")
        .node("Neg", { "z" }, { "behind" })
        .output("y", { -1, 3 })
        .output("behind", { -1, 3 })
        .model(99, 99);
}

/// Its second output is a sequence, and a value inside, too.
std::string sequenceModel()
{
    return OnnxBytes()
        .input("x", { -1, 3 })
        .node("Relu", { "x" }, { "y" })
        .node("SequenceConstruct", { "x", "y" }, { "both" })
        .node("SequenceConstruct", { "y", "y" }, { "inner" })
        .node("SequenceLength", { "inner" }, { "count" })
        .output("y", { -1, 3 })
        .sequenceOutput("both")
        .model();
}

} // namespace

/// Models that nobody foresaw open, and what can run runs.
class AnyModelTests : public QObject {
    Q_OBJECT
private slots:
    void initTestCase()
    {
        writeText(m_folder.filePath("future.onnx"), QByteArray::fromStdString(futureModel()));
        writeText(m_folder.filePath("sequence.onnx"), QByteArray::fromStdString(sequenceModel()));
    }

    void theFutureIsDescribed()
    {
        const Outcome info = quantscope({ "info", path("future.onnx"), "--json", "-" });
        QVERIFY2(complaint(info, 0).isEmpty(), info.err);
        const json document = parsed(info.out);
        QCOMPARE(document["ir_version"], 99);
        QCOMPARE(document["opset_imports"][""], 99);
        QCOMPARE(document["nodes"], 3);
        QCOMPARE(document["inputs"][0]["shape"], json::array({ "N", 3 }));
        QCOMPARE(document["unsupported"].size(), size_t(1));
        const std::string reason = document["unsupported"][0]["reason"];
        QVERIFY2(reason.find("org.example.Frobnicate") != std::string::npos, reason.c_str());
    }

    void theFutureRunsAsFarAsItCan()
    {
        const QString out = m_folder.filePath("y.npz");
        QS_EXPECT(0, {}, QStringList { "run", path("future.onnx"), "--tensors", "y", "--out", out } + kRandom);
        QVERIFY(QFile::exists(out));
        QS_EXPECT(3, (QStringList { "'z'", "Frobnicate" }), QStringList { "run", path("future.onnx") } + kRandom);
    }

    void sequencesAreLeftOut()
    {
        const QStringList run { "run", path("sequence.onnx"), "--out", m_folder.filePath("s.npz") };
        for (const bool all : { false, true }) {
            const Outcome outcome = quantscope(run + kRandom + (all ? QStringList { "--all-tensors" } : QStringList()));
            QCOMPARE(outcome.code, 0);
            QVERIFY2(outcome.err.contains("'both' is a sequence and is left out"), outcome.err);
            QCOMPARE(outcome.err.contains("'inner' is a sequence and is left out"), all);
        }
        QS_EXPECT(0, {}, QStringList { "run", path("sequence.onnx"), "--tensors", "count" } + kRandom);
    }

    void sequencesDoNotDisturbAComparison()
    {
        const Outcome outcome = quantscope(
            QStringList { "compare", path("sequence.onnx"), path("sequence.onnx"), "--json", "-" } + kRandom);
        QVERIFY2(outcome.code == 0, outcome.err);
        QVERIFY2(outcome.err.contains("'both' is a sequence and is left out"), outcome.err);
        const json document = parsed(outcome.out);
        QCOMPARE(document["outputs"].size(), size_t(1));
        QCOMPARE(document["outputs"][0]["exact"], true);
    }

private:
    QString path(const char* name) const { return m_folder.filePath(name); }
    QTemporaryDir m_folder;
};

int qs::test::runAnyModelTests(int argc, char** argv)
{
    AnyModelTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "any_model_test.moc"
