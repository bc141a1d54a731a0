// SPDX-License-Identifier: GPL-3.0-or-later
// Whatever ends a run, each result is the old one or the new one, and the next run leaves nothing beside them.
// QS_KILLS: how often each writer is killed (20).
#include "tests/cli/command_line.h"
#include "tests/cli/runners.h"

#include <QDir>
#include <QElapsedTimer>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include <csignal>
#include <nlohmann/json.hpp>
#include <random>

using namespace qs::test;

namespace {

const QByteArray kOld = "as it was before";

/// A run that writes; FOLDER stands for where to.
struct Writer {
    const char* name;
    QStringList arguments;
    QStringList results;
};

std::vector<Writer> writers()
{
    const QStringList data { "--data", kData, "--limit", "3", "--threads", "1" };
    return {
        { "arrays",
            QStringList { "run", kFloat, "--all-tensors", "--out", "FOLDER/a.npz", "--json", "FOLDER/a.json" } + data,
            { "a.npz", "a.json" } },
        { "comparison",
            QStringList { "compare", kFloat, kQdq, "--csv", "FOLDER/c.csv", "--html", "FOLDER/c.html", "--json",
                "FOLDER/c.json", "--save-map", "FOLDER/map.json" }
                + data,
            { "c.csv", "c.html", "c.json", "map.json" } },
        { "reports",
            QStringList { "compare", kFloat, kQdq, "--junit", "FOLDER/c.xml", "--sarif", "FOLDER/c.sarif", "--markdown",
                "FOLDER/c.md" }
                + data,
            { "c.xml", "c.sarif", "c.md" } },
        { "state", QStringList { "compare", kFloat, kQdq, "--shard", "1/2", "--state", "FOLDER/s.qstate" } + data,
            { "s.qstate" } },
        { "model",
            QStringList { "quantize", kFloat, "-o", "FOLDER/q.onnx", "--save-recipe", "FOLDER/r.json", "--save-ranges",
                "FOLDER/ranges.json", "--script", "FOLDER/q.py" }
                + data,
            { "q.onnx", "r.json", "ranges.json", "q.py" } },
        { "cache",
            QStringList { "quantize", kFloat, "-o", "FOLDER/q.onnx", "--calibration-cache", "FOLDER/cal" } + data,
            { "q.onnx", "cal" } },
        { "prepared", QStringList { "prepare", kFloat, "-o", "FOLDER/p.onnx" } + data, { "p.onnx" } },
    };
}

} // namespace

class WriterTests : public QObject {
    Q_OBJECT
private slots:
    void killed_data() { addWriters(); }
    void killed();
    void failing_data() { addWriters(); }
    void failing();
    void endsWithTheTerminal();

private:
    static void addWriters();
    static QStringList argumentsIn(const QTemporaryDir& folder, const Writer& writer);
    /// What the run gives when nothing is in its way.
    static QMap<QString, QByteArray> wanted(const Writer& writer);
    /// What is wrong with the results; "" when each is an old or a new one.
    static QString wrong(
        const QTemporaryDir& folder, const Writer& writer, const QMap<QString, QByteArray>& fresh, bool old);
    static void putOld(const QTemporaryDir& folder, const Writer& writer);
    static QStringList namesIn(const QTemporaryDir& folder)
    {
        return QDir(folder.path()).entryList(QDir::Files | QDir::Hidden);
    }
};

void WriterTests::addWriters()
{
    QTest::addColumn<int>("index");
    for (size_t i = 0; i < writers().size(); ++i)
        QTest::newRow(writers()[i].name) << int(i);
}

QStringList WriterTests::argumentsIn(const QTemporaryDir& folder, const Writer& writer)
{
    QStringList arguments = writer.arguments;
    return arguments.replaceInStrings("FOLDER", folder.path());
}

QMap<QString, QByteArray> WriterTests::wanted(const Writer& writer)
{
    QTemporaryDir folder;
    QMap<QString, QByteArray> fresh;
    if (quantscope(argumentsIn(folder, writer)).code == 0)
        for (const QString& name : writer.results)
            fresh[name] = contentOf(folder.filePath(name));
    return fresh;
}

/// A calibration cache that is none would be refused.
void WriterTests::putOld(const QTemporaryDir& folder, const Writer& writer)
{
    for (const QString& name : writer.results)
        if (name == "cal")
            QFile::remove(folder.filePath(name));
        else
            writeText(folder.filePath(name), kOld);
}

QString WriterTests::wrong(
    const QTemporaryDir& folder, const Writer& writer, const QMap<QString, QByteArray>& fresh, bool old)
{
    for (const QString& name : writer.results) {
        const QByteArray now = contentOf(folder.filePath(name));
        const bool absent = name == "cal" && !QFile::exists(folder.filePath(name));
        if ((old && (now == kOld || absent)) || now == fresh[name])
            continue;
        // these tell the time that it took, and the folder
        const bool timed
            = name.endsWith(".json") || name.endsWith(".html") || name.endsWith(".py") || name.endsWith(".xml");
        const bool whole = name.endsWith(".json")
            ? !nlohmann::json::parse(now.begin(), now.end(), nullptr, false).is_discarded()
            : now.right(8) == fresh[name].right(8);
        if (!timed || !whole)
            return QString("%1 has %2 bytes, neither the old ones nor the new ones").arg(name).arg(now.size());
    }
    return {};
}

void WriterTests::killed()
{
    QFETCH(int, index);
    const Writer writer = writers()[size_t(index)];
    QElapsedTimer timer;
    timer.start();
    const auto fresh = wanted(writer);
    const qint64 duration = timer.elapsed();
    QCOMPARE(fresh.size(), writer.results.size());
    QTemporaryDir folder;
    std::mt19937 random(unsigned(index + 1));
    const int kills = qEnvironmentVariableIsSet("QS_KILLS") ? qEnvironmentVariableIntValue("QS_KILLS") : 20;
    for (int i = 0; i < kills; ++i) {
        putOld(folder, writer);
        QProcess process;
        process.start(QS_CLI, argumentsIn(folder, writer));
        QVERIFY(process.waitForStarted());
        // results are written towards the end
        const auto from = i % 4 == 0 ? 0 : duration * 6 / 10;
        QThread::msleep(
            static_cast<unsigned long>(std::uniform_int_distribution<qint64>(from, duration * 11 / 10)(random)));
        process.kill();
        QVERIFY(process.waitForFinished(60000));
        const QString what = wrong(folder, writer, fresh, true);
        QVERIFY2(what.isEmpty(), qPrintable(QString("kill %1: %2").arg(i).arg(what)));
    }
    putOld(folder, writer);
    QCOMPARE(quantscope(argumentsIn(folder, writer)).code, 0);
    QCOMPARE(namesIn(folder), [&] {
        QStringList sorted = writer.results;
        sorted.sort();
        return sorted;
    }());
    const QString what = wrong(folder, writer, fresh, false);
    QVERIFY2(what.isEmpty(), qPrintable(what));
}

void WriterTests::failing()
{
#ifndef QS_FAILING_WRITES
    QSKIP("the library that fails writes must be loaded first, and so must a sanitizer");
#else
    QFETCH(int, index);
    const Writer writer = writers()[size_t(index)];
    const auto fresh = wanted(writer);
    QCOMPARE(fresh.size(), writer.results.size());
    QTemporaryDir folder, marks;
    const QString mark = marks.filePath("failed");
    for (int at = 1;; ++at) {
        putOld(folder, writer);
        QProcess process;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert("LD_PRELOAD", QS_FAILING_WRITES);
        environment.insert("QS_FAIL_AT", QString::number(at));
        environment.insert("QS_FAIL_ERRNO", QString::number(at % 2 ? ENOSPC : EIO));
        environment.insert("QS_FAIL_MARK", mark);
        process.setProcessEnvironment(environment);
        process.start(QS_CLI, argumentsIn(folder, writer));
        QVERIFY(process.waitForFinished(60000));
        const QString place = QString("write %1: %2").arg(at).arg(QString(process.readAllStandardError()));
        QVERIFY2(process.exitStatus() == QProcess::NormalExit, qPrintable(place));
        QVERIFY2(process.exitCode() == 0 || process.exitCode() == 3, qPrintable(place));
        const QString what = wrong(folder, writer, fresh, process.exitCode() != 0);
        QVERIFY2(what.isEmpty(), qPrintable(place + what));
        for (const QString& name : namesIn(folder))
            QVERIFY2(writer.results.contains(name), qPrintable(place + name));
        if (!QFile::remove(mark)) {
            QVERIFY2(at > 2 && process.exitCode() == 0, qPrintable(place));
            break;
        }
    }
#endif
}

void WriterTests::endsWithTheTerminal()
{
    QTemporaryDir folder;
    writeText(folder.filePath("a.npz"), kOld);
    const Outcome outcome = quantscope({ "run", kFloat, "--data", "random:1024000", "--shape", "image=256x1x8x8",
                                           "--threads", "1", "--out", folder.filePath("a.npz") },
        SIGHUP, 500);
    QVERIFY2(complaint(outcome, 4).isEmpty(), qPrintable(complaint(outcome, 4)));
    QCOMPARE(contentOf(folder.filePath("a.npz")), kOld);
    QCOMPARE(namesIn(folder), QStringList { "a.npz" });
}

int qs::test::runWriterTests(int argc, char** argv)
{
    WriterTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "writers_test.moc"
