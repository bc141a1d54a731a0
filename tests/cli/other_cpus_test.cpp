// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/cli/command_line.h"
#include "tests/cli/runners.h"

#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

using namespace qs::test;

/// Codes of integer operators are the same on CPUs without this one's instructions (emulated by QEMU).
class OtherCpuTests : public QObject {
    Q_OBJECT
private slots:
    void codesAreEqual_data();
    void codesAreEqual();
};

void OtherCpuTests::codesAreEqual_data()
{
    QTest::addColumn<QString>("cpu");
    QTest::addColumn<QString>("model");
    for (const char* cpu : { "Haswell", "Nehalem", "qemu64" })
        for (const char* model : { "codes_u8", "codes_s8" })
            QTest::addRow("%s, %s", cpu, model) << cpu << model;
}

void OtherCpuTests::codesAreEqual()
{
    QFETCH(QString, cpu);
    QFETCH(QString, model);
    const QString emulator = QStringLiteral(QS_QEMU);
    if (emulator.isEmpty())
        QSKIP("qemu-x86_64-static is not installed");
    const QTemporaryDir folder;
    const QString base = QStringLiteral(QS_SOURCE_DIR "/tests/data/integer/") + model;
    const auto arguments = [&](const QString& out) {
        return QStringList { "run", base + ".onnx", "--data", base + ".npz", "--all-tensors", "--quiet", "--threads",
            "2", "--out", folder.filePath(out) };
    };
    QS_EXPECT(0, {}, arguments("here.npz"));
    QProcess emulated;
    emulated.start(emulator, QStringList { "-cpu", cpu, QStringLiteral(QS_CLI) } + arguments("there.npz"));
    QVERIFY2(emulated.waitForFinished(60000), qPrintable(emulated.errorString()));
    QVERIFY2(emulated.exitStatus() == QProcess::NormalExit && emulated.exitCode() == 0,
        emulated.readAllStandardError().constData());
    const QByteArray here = contentOf(folder.filePath("here.npz"));
    QVERIFY(!here.isEmpty());
    QVERIFY(here == contentOf(folder.filePath("there.npz")));
}

int qs::test::runOtherCpuTests(int argc, char** argv)
{
    OtherCpuTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "other_cpus_test.moc"
