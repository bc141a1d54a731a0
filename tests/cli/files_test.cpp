// SPDX-License-Identifier: GPL-3.0-or-later
// No result takes the place of an input, inputs that change are found out, and results that get lost are told.
#include "tests/cli/command_line.h"
#include "tests/cli/onnx_bytes.h"
#include "tests/cli/runners.h"

#include <QDir>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include <csignal>
#include <sys/stat.h>
#include <unistd.h>

using namespace qs::test;

namespace {

constexpr int kRows = 512;

/// A matrix product with weights in a file beside it.
QByteArray externalModel()
{
    return QByteArray::fromStdString(OnnxBytes()
                                         .input("x", { -1, kRows })
                                         .externalFloats("w", { kRows, kRows }, "w.bin")
                                         .node("MatMul", { "x", "w" }, { "y" })
                                         .output("y", { -1, kRows })
                                         .model());
}

QByteArray weights(float value)
{
    const std::vector<float> all(size_t(kRows) * kRows, value);
    return { reinterpret_cast<const char*>(all.data()), qsizetype(all.size() * sizeof(float)) };
}

/// What a shell makes of the command line, after which `rest` stands.
Outcome inShell(const QStringList& arguments, const QString& rest)
{
    QProcess process;
    process.start("sh", QStringList { "-c", "\"$0\" \"$@\" " + rest, QS_CLI } + arguments);
    Outcome outcome;
    if (process.waitForFinished(60000) && process.exitStatus() == QProcess::NormalExit)
        outcome.code = process.exitCode();
    outcome.out = process.readAllStandardOutput();
    outcome.err = process.readAllStandardError();
    return outcome;
}

} // namespace

class FileTests : public QObject {
    Q_OBJECT
private slots:
    void init();
    void weightsAreInputs();
    void otherNamesOfInputs();
    void sideFilesAreResults();
    void dataFoldersAreInputs();
    void stateNamesInputs();
    void resultsUnderTwoNames();
    void changedWhileRunning_data();
    void changedWhileRunning();
    void lostStdout_data();
    void lostStdout();
    void stdoutIsNoResult();
    void pipesAreResults();

private:
    QString path(const QString& name) const { return m_folder->filePath(name); }
    std::unique_ptr<QTemporaryDir> m_folder;
};

void FileTests::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
    writeText(path("ext.onnx"), externalModel());
    writeText(path("w.bin"), weights(0.01f));
}

void FileTests::weightsAreInputs()
{
    const QString model = path("ext.onnx"), weightFile = path("w.bin");
    QCOMPARE(link(qPrintable(weightFile), qPrintable(path("hard"))), 0);
    for (const QString& result : { weightFile, path("hard") }) {
        const QStringList words { "overwrite", "the weights of the" };
        QS_EXPECT(2, words, { "quantize", model, "--data", "random:1", "--shape", "x=1x512", "-o", result });
        QS_EXPECT(2, words, { "info", model, "--json", result });
        QS_EXPECT(2, words, { "run", model, "--data", "random:1", "--shape", "x=1x512", "--out", result });
        QS_EXPECT(2, words, { "prepare", model, "--data", "random:1", "--shape", "x=1x512", "-o", result });
        QS_EXPECT(2, words, { "bench", model, "--data", "random:1", "--shape", "x=1x512", "--json", result });
        for (const char* option : { "--json", "--csv", "--html", "--save-map" })
            QS_EXPECT(2, words,
                { "compare", model, model, "--data", "random:1", "--shape", "x=1x512", "--quiet", option, result });
        QS_EXPECT(2, words,
            { "sensitivity", model, "--data", "random:1", "--shape", "x=1x512", "--json", result, "--units-only" });
    }
    QCOMPARE(contentOf(weightFile), weights(0.01f));
}

void FileTests::otherNamesOfInputs()
{
    QVERIFY(QFile::copy(kFloat, path("model.onnx")));
    QCOMPARE(link(qPrintable(path("model.onnx")), qPrintable(path("hard.onnx"))), 0);
    QCOMPARE(symlink("model.onnx", qPrintable(path("link.onnx"))), 0);
    QCOMPARE(symlink(".", qPrintable(path("folder"))), 0);
    for (const char* name : { "hard.onnx", "link.onnx", "folder/model.onnx", "./folder/./model.onnx" })
        QS_EXPECT(2, (QStringList { "the quantized model", "the float model" }),
            { "quantize", path("model.onnx"), "--data", kData, "-o", path(name) });
    QCOMPARE(contentOf(path("model.onnx")), contentOf(kFloat));
}

void FileTests::sideFilesAreResults()
{
    QVERIFY(QFile::copy(kFloat, path("s.py.float.onnx")));
    QS_EXPECT(2, QStringList { "overwrite" },
        { "quantize", path("s.py.float.onnx"), "--data", kData, "-o", path("out.onnx"), "--script", path("s.py") });
    QCOMPARE(contentOf(path("s.py.float.onnx")), contentOf(kFloat));
    QVERIFY(!QFile::exists(path("s.py")) && !QFile::exists(path("out.onnx")));
}

void FileTests::dataFoldersAreInputs()
{
    QVERIFY(QDir().mkpath(path("data/cats")));
    writeText(path("data/cats/1.png"), "no picture");
    writeText(path("data/labels.csv"), "file,label\n");
    writeText(path("how.json"), "{}");
    for (const char* name : { "data/cats/1.png", "data/labels.csv" })
        QS_EXPECT(2, QStringList { "a file of the data" },
            { "compare", kFloat, kQdq, "--data", path("data"), "--preprocess", path("how.json"), "--csv", path(name) });
    QS_EXPECT(2, QStringList { "how pictures become inputs" },
        { "compare", kFloat, kQdq, "--data", path("data"), "--preprocess", path("how.json"), "--csv",
            path("how.json") });
    QCOMPARE(contentOf(path("data/cats/1.png")), QByteArray("no picture"));
}

void FileTests::stateNamesInputs()
{
    const QString model = path("model.onnx"), data = path("data.npz"), state = path("s.qstate");
    QVERIFY(QFile::copy(kFloat, model) && QFile::copy(kData, data));
    QCOMPARE(
        quantscope({ "compare", model, kQdq, "--data", data, "--limit", "2", "--shard", "1/1", "--state", state }).code,
        0);
    QS_EXPECT(2, QStringList { "the float model" }, { "merge", state, "--json", model });
    QS_EXPECT(2, QStringList { "the data" }, { "merge", state, "--csv", data });
    QS_EXPECT(2, QStringList { "the state of a shard" }, { "merge", state, "--html", state });
    QCOMPARE(contentOf(model), contentOf(kFloat));
    QCOMPARE(contentOf(data), contentOf(kData));
    QCOMPARE(quantscope({ "merge", state, "--json", path("out.json") }).code, 0);
}

void FileTests::resultsUnderTwoNames()
{
    QCOMPARE(symlink(".", qPrintable(path("folder"))), 0);
    QS_EXPECT(2, (QStringList { "the CSV result", "the JSON result" }),
        { "compare", kFloat, kQdq, "--data", kData, "--limit", "1", "--json", path("a"), "--csv", path("folder/a") });
}

void FileTests::changedWhileRunning_data()
{
    QTest::addColumn<bool>("shorter");
    QTest::newRow("shorter") << true;
    QTest::newRow("as long") << false;
}

void FileTests::changedWhileRunning()
{
    QFETCH(bool, shorter);
#ifdef __SANITIZE_ADDRESS__ // whose programs take twenty times as long
    const QString data = "random:1000";
#else
    const QString data = "random:20000";
#endif
    QProcess process;
    process.start(QS_CLI, { "run", path("ext.onnx"), "--data", data, "--shape", "x=16x512", "--threads", "1" });
    QVERIFY(process.waitForStarted());
    const QString maps = QString("/proc/%1/maps").arg(process.processId());
    QTRY_VERIFY_WITH_TIMEOUT(contentOf(maps).contains("w.bin"), 20000);
    QTest::qWait(200);
    QCOMPARE(kill(static_cast<pid_t>(process.processId()), SIGSTOP), 0);
    QCOMPARE(process.state(), QProcess::Running); // else the machine is too fast for this test
    QFile file(path("w.bin"));
    QVERIFY(file.open(shorter ? QIODevice::WriteOnly | QIODevice::Truncate : QIODevice::ReadWrite));
    const QByteArray written = shorter ? weights(0.02f).left(8) : weights(0.02f);
    QCOMPARE(file.write(written), written.size());
    file.close();
    QCOMPARE(kill(static_cast<pid_t>(process.processId()), SIGCONT), 0);
    QVERIFY(process.waitForFinished(100000));
    const Outcome outcome { process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1,
        process.readAllStandardOutput(), process.readAllStandardError() };
    const QString wrong = complaint(outcome, 3, { path("w.bin"), "open it again" });
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
    QVERIFY(outcome.out.isEmpty());
}

void FileTests::lostStdout_data()
{
    QTest::addColumn<QStringList>("arguments");
    const QStringList comparing { "compare", kFloat, kQdq, "--data", kData, "--limit", "1" };
    QTest::newRow("table") << comparing;
    for (const char* option : { "--json", "--csv", "--html" })
        QTest::newRow(option) << comparing + QStringList { option, "-" };
    QTest::newRow("info") << QStringList { "info", kFloat };
    QTest::newRow("run") << QStringList { "run", kFloat, "--data", kData, "--limit", "1" };
    QTest::newRow("kernels") << QStringList { "kernels", "--list" };
    QTest::newRow("help") << QStringList { "compare", "--help" };
    QTest::newRow("version") << QStringList { "--version" };
}

void FileTests::lostStdout()
{
    QFETCH(QStringList, arguments);
    for (const char* rest : { "> /dev/full", ">&-" }) {
        const Outcome outcome = inShell(arguments, rest);
        const QString wrong = complaint(outcome, 3, { "the standard output" });
        QVERIFY2(wrong.isEmpty(), qPrintable(rest + (": " + wrong)));
    }
    const Outcome closed = inShell(arguments, "| true; exec true"); // must end, whatever it says
    QVERIFY(closed.code == 0);
}

void FileTests::stdoutIsNoResult()
{
    const QString out = path("out");
    const Outcome outcome = inShell({ "info", kFloat, "--json", "/dev/stdout" }, "> '" + out + "'");
    QCOMPARE(outcome.code, 3);
    QVERIFY(outcome.err.startsWith("error: "));
    // Without a standard output no result may end up with what is printed in it.
    const Outcome closed = inShell({ "info", kFloat, "--json", out }, ">&-");
    QCOMPARE(closed.code, 3);
    QVERIFY(!parsed(contentOf(out)).is_null());
}

void FileTests::pipesAreResults()
{
    const QString pipe = path("pipe");
    QCOMPARE(mkfifo(qPrintable(pipe), 0600), 0);
    const Outcome outcome = inShell({ "info", kFloat, "--json", pipe, "--quiet" }, "> /dev/null & cat '" + pipe + "'");
    QCOMPARE(outcome.code, 0);
    QVERIFY(!parsed(outcome.out).is_null());
    QS_EXPECT(3, QStringList { pipe }, { "run", kFloat, "--data", kData, "--limit", "1", "--out", pipe });
}

int qs::test::runFileTests(int argc, char** argv)
{
    FileTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "files_test.moc"
