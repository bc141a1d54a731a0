// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/cli/command_line.h"
#include "tests/cli/onnx_bytes.h"
#include "tests/cli/runners.h"

#include <QDir>
#include <QTemporaryDir>
#include <QtTest>

#include <cstring>
#include <nlohmann/json.hpp>

using namespace qs::test;
using nlohmann::json;

namespace {

/// A TensorProto with one axis of floats.
QByteArray tensorFile(const std::vector<float>& values)
{
    const auto count = static_cast<char>(values.size());
    QByteArray bytes;
    bytes += QByteArray("\x08").append(count); // dims
    bytes += QByteArray("\x10\x01", 2); // float
    bytes += QByteArray("\x4A").append(static_cast<char>(4 * count)); // raw_data
    bytes.append(reinterpret_cast<const char*>(values.data()), static_cast<int>(4 * values.size()));
    return bytes;
}

/// A backend test of one node with a float input of two elements.
void writeTest(const QDir& top, const QString& name, const std::string& type, const std::vector<float>& wanted)
{
    top.mkpath(name + "/test_data_set_0");
    const QString folder = top.filePath(name);
    const std::string model = OnnxBytes().node(type, { "x" }, { "y" }).input("x", { 2 }).output("y", { 2 }).model();
    writeText(folder + "/model.onnx", QByteArray::fromStdString(model));
    writeText(folder + "/test_data_set_0/input_0.pb", tensorFile({ -1, 2 }));
    writeText(folder + "/test_data_set_0/output_0.pb", tensorFile(wanted));
}

} // namespace

class ConformanceTests : public QObject {
    Q_OBJECT
private slots:
    void outcomes();
    void wrongFolders();
    void kernels();
    void operatorPage();
};

void ConformanceTests::outcomes()
{
    QTemporaryDir folder;
    const QDir top(folder.path());
    writeTest(top, "node/relu", "Relu", { 0, 2.0001f });
    writeTest(top, "node/abs", "Abs", { 1, 2.01f });
    writeTest(top, "strange", "Frobnicate", { 0, 0 });
    writeTest(top, "longer", "Neg", { 1, -2, 0 });
    const Outcome text = quantscope({ "conformance", folder.path() });
    QCOMPARE(text.code, 0);
    QVERIFY(text.out.endsWith("1 passed, 2 failed, 1 skipped\n"));
    QVERIFY(text.out.contains("failed: node/abs: output y element 1"));
    QVERIFY(text.out.contains("failed: longer: output y has shape 2, not 3"));
    QVERIFY(text.out.contains("skipped: strange: ") && text.out.contains("Frobnicate"));
    QVERIFY(!text.out.contains("relu"));

    const Outcome document = quantscope({ "conformance", folder.path(), "--json", "-" });
    const json j = json::parse(document.out.toStdString(), nullptr, false);
    QVERIFY(!j.is_discarded());
    QCOMPARE(j["schema_version"], 1);
    QCOMPARE(j["passed"], 1);
    QCOMPARE(j["failed"], 2);
    QCOMPARE(j["skipped"], 1);
    QCOMPARE(j["tests"].size(), size_t(4));
    QCOMPARE(j["tests"][2]["name"], "node/relu");
    QCOMPARE(j["tests"][2]["status"], "passed");
    QCOMPARE(j["tests"][2]["reason"], "");
}

void ConformanceTests::wrongFolders()
{
    QTemporaryDir empty;
    QS_EXPECT(3, QStringList { "no such folder" }, { "conformance", empty.filePath("none") });
    QS_EXPECT(3, QStringList { "no backend tests" }, { "conformance", empty.path() });
    QS_EXPECT(2, QStringList { "DIR" }, { "conformance" });
    // A damaged model is said, not fatal.
    QDir(empty.path()).mkpath("broken/test_data_set_0");
    writeText(empty.filePath("broken/model.onnx"), "not a model");
    const Outcome outcome = quantscope({ "conformance", empty.path() });
    QCOMPARE(outcome.code, 0);
    QVERIFY(outcome.out.endsWith("0 passed, 0 failed, 1 skipped\n"));
}

void ConformanceTests::kernels()
{
    const Outcome all = quantscope({ "kernels" });
    QCOMPARE(all.code, 0);
    QVERIFY(all.out.contains("chosen") && all.out.contains("oneDNN") && all.out.contains("MaxPool"));
    const Outcome one = quantscope({ "kernels", "--op", "Conv", "--json", "-" });
    const json j = json::parse(one.out.toStdString(), nullptr, false);
    QVERIFY(!j.is_discarded());
    QCOMPARE(j["operators"].size(), size_t(2)); // ONNX's, and the one over blocks of channels
    for (const json& op : j["operators"])
        QCOMPARE(op["op_type"], "Conv");
    QVERIFY(!j["operators"][0]["kernels"].empty());
    QS_EXPECT(2, QStringList { "Frobnicate" }, { "kernels", "--op", "Frobnicate" });
}

void ConformanceTests::operatorPage()
{
    QFile page(QS_SOURCE_DIR "/docs/operators.md");
    QVERIFY(page.open(QFile::ReadOnly));
    const Outcome list = quantscope({ "kernels", "--list" });
    QCOMPARE(list.code, 0);
    QVERIFY2(list.out == QString::fromUtf8(page.readAll()), "write it anew: quantscope-cli kernels --list");
}

namespace qs::test {

int runConformanceTests(int argc, char** argv)
{
    ConformanceTests tests;
    return QTest::qExec(&tests, argc, argv);
}

} // namespace qs::test

#include "conformance_test.moc"
