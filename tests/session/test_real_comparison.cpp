// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/workspace.h"
#include "core/report/report.h"
#include "widgets/session/session.h"

#include <QSignalSpy>
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
