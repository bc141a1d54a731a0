// SPDX-License-Identifier: GPL-3.0-or-later
// What is left of the work when the process is killed. Called with "child FOLDER" it is the process to kill: it edits
// and says so, line by line.
#include "core/project/snapshot/build_snapshot.h"
#include "tests/support/real_build.h"
#include "widgets/session/files/autosave.h"
#include "widgets/session/files/projects.h"
#include "widgets/session/session.h"

#include <QCoreApplication>
#include <QDir>
#include <QProcess>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <cstdio>

using namespace qs;
using qs::test::realBuild;

namespace {

constexpr int kPatience = 60'000;
constexpr int kEdits = 200; ///< more than anybody waits for

/// The recipe after so many edits.
double percentileAfter(int edits) { return 90 + 0.01 * edits; }

int runChild(const QString& folder)
{
    Session session(realBuild());
    Autosave autosave(session, folder);
    session.setAutoRun(false);
    Inputs inputs;
    inputs.floatPath = QS_SOURCE_DIR "/resources/examples/digits_float.onnx";
    inputs.data.spec = QS_SOURCE_DIR "/resources/examples/digits_samples.npz";
    inputs.data.limit = 4;
    QSignalSpy settled(&session, &Session::settled);
    session.openInputs(inputs);
    if (!settled.wait(kPatience))
        return 1;
    for (int edit = 1; edit <= kEdits; ++edit) {
        autosave.flush(); // people are slower than the disk
        Recipe next = session.recipe().recipe();
        next.calibration.percentile = percentileAfter(edit);
        session.recipe().apply(QStringLiteral("Edit %1").arg(edit), next);
        std::printf("%d\n", edit);
        std::fflush(stdout);
        QTest::qWait(5);
    }
    return 0;
}

} // namespace

class TestCrash : public QObject {
    Q_OBJECT
private slots:
    void atMostTheLastEditIsLost_data()
    {
        QTest::addColumn<int>("edits");
        for (const int edits : { 1, 2, 7, 23 })
            QTest::addRow("killed after edit %d", edits) << edits;
    }

    void atMostTheLastEditIsLost()
    {
        QFETCH(int, edits);
        QTemporaryDir folder;
        QProcess child;
        child.start(QCoreApplication::applicationFilePath(), { QStringLiteral("child"), folder.path() });
        int seen = 0;
        while (seen < edits) {
            if (!child.canReadLine())
                QVERIFY2(child.waitForReadyRead(kPatience), child.readAllStandardError().constData());
            while (seen < edits && child.canReadLine())
                seen = child.readLine().trimmed().toInt();
        }
        child.kill(); // SIGKILL
        QVERIFY(child.waitForFinished(kPatience));
        QCOMPARE(child.exitStatus(), QProcess::CrashExit);
        while (child.canReadLine()) // edits that it made before the signal came
            seen = child.readLine().trimmed().toInt();

        const QStringList lost = Autosave::lost(folder.path());
        if (edits == 1 && lost.isEmpty())
            return; // it was the only one
        QCOMPARE(lost.size(), 1);
        const auto project = readProject(lost.front().toStdString());
        QVERIFY(project.ok());
        const double kept = project->inputs.recipe->calibration.percentile;
        QVERIFY2(kept >= percentileAfter(seen - 1) - 1e-9, qPrintable(QString::number(kept)));

        Session session(realBuild());
        QSignalSpy settled(&session, &Session::settled), opened(&session, &Session::projectOpened);
        openProject(session, lost.front());
        QVERIFY(settled.wait(kPatience));
        QCOMPARE(opened.size(), 1);
        QCOMPARE(session.recipe().recipe().calibration.percentile, kept);
        QVERIFY(session.comparison() || session.needsRun());
    }
};

int main(int argc, char** argv)
{
    QCoreApplication application(argc, argv);
    QCoreApplication::setApplicationName(QStringLiteral("quantscope-test"));
    if (argc == 3 && QByteArray(argv[1]) == "child")
        return runChild(QString::fromLocal8Bit(argv[2]));
    TestCrash test;
    return QTest::qExec(&test, argc, argv);
}

#include "test_crash.moc"
