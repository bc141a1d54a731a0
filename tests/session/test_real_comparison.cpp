// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/workspace.h"
#include "core/report/report.h"
#include "widgets/session/session.h"

#include <QFile>
#include <QJsonDocument>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QThread>

using namespace qs;

namespace {

Inputs exampleInputs()
{
    const std::string folder = QS_SOURCE_DIR "/resources/examples/";
    Inputs inputs;
    inputs.floatPath = folder + "digits_float.onnx";
    inputs.quantPath = folder + "digits_qdq_narrow.onnx";
    inputs.data.spec = folder + "digits_samples.npz";
    return inputs;
}

/// Everything of the report but the times.
std::string untimed(const Snapshot& snapshot)
{
    Snapshot copy = snapshot;
    copy.timing = {};
    return compareJson(copy, {}) + compareCsv(copy);
}

} // namespace

class TestRealComparison : public QObject {
    Q_OBJECT
private slots:
    void windowAndCommandLineAgree()
    {
        const auto direct = buildSnapshot(exampleInputs(), nullptr, {}, {});
        QVERIFY(direct.ok());
        bool onGuiThread = false;
        Session session([&](const Inputs& inputs, const SnapshotPtr& previous, const ProgressFn& progress,
                            const CancelToken& cancel, const PartialFn& partial) {
            onGuiThread |= QThread::currentThread() == QCoreApplication::instance()->thread();
            return buildSnapshot(inputs, previous, progress, cancel, partial);
        });
        QSignalSpy settled(&session, &Session::settled);
        session.openInputs(exampleInputs());
        QVERIFY(settled.wait(60000));
        QVERIFY(!onGuiThread);
        QVERIFY(session.snapshot()->comparison);
        QCOMPARE(QByteArray::fromStdString(untimed(*session.snapshot())), QByteArray::fromStdString(untimed(**direct)));
    }

    void reportsAreThoseOfTheCommandLine()
    {
        Session session(
            [](const Inputs& inputs, const SnapshotPtr& previous, const ProgressFn& progress, const CancelToken& cancel,
                const PartialFn& partial) { return buildSnapshot(inputs, previous, progress, cancel, partial); });
        QSignalSpy settled(&session, &Session::settled), failed(&session, &Session::failed);
        QTemporaryDir folder;
        session.exportReport(folder.filePath(QStringLiteral("early.csv")));
        QTRY_COMPARE(failed.size(), 1); // nothing to report yet
        session.openInputs(exampleInputs());
        QVERIFY(settled.wait(60000));
        const auto written = [&](const QString& name) {
            session.exportReport(folder.filePath(name));
            [&] { QTRY_VERIFY(session.jobs().idle()); }();
            QFile file(folder.filePath(name));
            return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
        };
        QCOMPARE(written(QStringLiteral("a.csv")), QByteArray::fromStdString(compareCsv(*session.snapshot())));
        QVERIFY(written(QStringLiteral("a.html")).contains("</html>"));
        QVERIFY(QJsonDocument::fromJson(written(QStringLiteral("a.JSON"))).isObject());
        QCOMPARE(failed.size(), 1);
        QVERIFY(written(QStringLiteral("a.txt")).isEmpty());
        QCOMPARE(failed.size(), 2);
        QVERIFY(written(QStringLiteral("no/such/folder.csv")).isEmpty());
        QCOMPARE(failed.size(), 3);
    }

    void whatWasOpenStaysOpenAfterABadFile()
    {
        Session session(
            [](const Inputs& inputs, const SnapshotPtr& previous, const ProgressFn& progress, const CancelToken& cancel,
                const PartialFn& partial) { return buildSnapshot(inputs, previous, progress, cancel, partial); });
        QSignalSpy settled(&session, &Session::settled), failed(&session, &Session::failed);
        session.openInputs(exampleInputs());
        QVERIFY(settled.wait(60000));
        const SnapshotPtr before = session.snapshot();
        session.openQuantized(QStringLiteral(QS_SOURCE_DIR "/README.md"));
        QVERIFY(settled.wait(60000));
        QCOMPARE(failed.size(), 1);
        QCOMPARE(session.snapshot(), before);
    }
};

QTEST_GUILESS_MAIN(TestRealComparison)
#include "test_real_comparison.moc"
