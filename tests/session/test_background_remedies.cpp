// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/recipe/recipe_edit.h"
#include "tests/support/real_build.h"
#include "widgets/models/findings/finding_model.h"
#include "widgets/session/session.h"

#include <QSignalSpy>
#include <QTest>

#include <algorithm>

using namespace qs;
using qs::test::realBuild;

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

bool anyMeasured(const Session& session)
{
    const Comparison* c = session.comparison();
    return c && std::ranges::any_of(c->findings, [](const Finding& f) { return bool(f.measuredGainDb); });
}

} // namespace

/// Remedies that are measured without being asked.
class TestBackgroundRemedies : public QObject {
    Q_OBJECT
private slots:
    void areMeasuredWhereWanted()
    {
        Session session(realBuild());
        QVERIFY(!session.autoTry());
        session.setAutoTry(true);
        QSignalSpy settled(&session, &Session::settled), failed(&session, &Session::failed);
        session.openInputs(exampleInputs());
        QVERIFY(settled.wait(60000));
        QTRY_VERIFY_WITH_TIMEOUT(anyMeasured(session), 60000);
        QCOMPARE(failed.size(), 0);
        const Comparison& c = *session.comparison();
        for (const Finding& f : c.findings) {
            if (!f.measuredGainDb)
                continue;
            QVERIFY(f.change.kind == RemedyKind::None || *f.measuredGainDb >= 0);
            QVERIFY(gainText(f, c.accuracy).startsWith(QStringLiteral("Measured at the output: ")));
        }
    }

    void areLeftAloneOtherwise()
    {
        Session session(realBuild());
        QSignalSpy settled(&session, &Session::settled);
        session.openInputs(exampleInputs());
        QVERIFY(settled.wait(60000));
        QTRY_VERIFY_WITH_TIMEOUT(session.jobs().idle() && session.canTryRemedies(), 60000);
        QVERIFY(!anyMeasured(session));
        for (const Finding& f : session.comparison()->findings)
            if (f.expectedGainDb && f.change.kind != RemedyKind::None)
                QVERIFY(gainText(f, {}).contains(QStringLiteral("not measured")));
    }

    /// An edit does not wait for them, and what they measured of the model before is not shown beside the new one.
    void giveWayToEdits()
    {
        Session session(realBuild());
        session.setAutoTry(true);
        QSignalSpy settled(&session, &Session::settled);
        session.openInputs(exampleInputs());
        QVERIFY(settled.wait(60000));
        QTRY_VERIFY_WITH_TIMEOUT(session.recipe().editable(), 60000);
        QTRY_VERIFY_WITH_TIMEOUT(session.jobs().running(Session::kRemediesTag) || anyMeasured(session), 60000);
        Recipe next = session.recipe().recipe();
        next.perChannel = !next.perChannel;
        session.recipe().apply(QStringLiteral("per channel"), next);
        if (session.needsRun())
            session.run();
        QVERIFY(settled.wait(60000));
        QVERIFY(session.snapshot()->inputs.recipe && *session.snapshot()->inputs.recipe == next);
        QTRY_VERIFY_WITH_TIMEOUT(session.jobs().idle(), 60000);
        QVERIFY(*session.snapshot()->inputs.recipe == next);
    }
};

QTEST_GUILESS_MAIN(TestBackgroundRemedies)
#include "test_background_remedies.moc"
