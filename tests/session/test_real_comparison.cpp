// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/snapshot/build_snapshot.h"
#include "core/quant/recipe/recipe_edit.h"
#include "core/quant/recipe/recipe_json.h"
#include "core/report/report.h"
#include "tests/support/real_build.h"
#include "widgets/session/export/exports.h"
#include "widgets/session/export/report_file.h"
#include "widgets/session/files/autosave.h"
#include "widgets/session/files/open_files.h"
#include "widgets/session/files/projects.h"
#include "widgets/session/session.h"

#include <QDir>
#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QThread>

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

/// Everything of the report but the times.
std::string untimed(const Snapshot& snapshot)
{
    Snapshot copy = snapshot;
    copy.timing = {};
    return compareJson(copy, {}) + compareCsv(copy);
}

/// A report without what differs from run to run.
QByteArray numbersOf(const QByteArray& json)
{
    QJsonObject object = QJsonDocument::fromJson(json).object();
    object.remove(QStringLiteral("time_ms"));
    object.remove(QStringLiteral("peak_memory_bytes"));
    return QJsonDocument(object).toJson();
}

} // namespace

class TestRealComparison : public QObject {
    Q_OBJECT
private slots:
    void structureComesFirst()
    {
        std::vector<SnapshotPtr> seen;
        const auto note = [&](const SnapshotPtr& snapshot) { seen.push_back(snapshot); };
        Inputs inputs = exampleInputs();
        const auto whole = buildSnapshot(inputs, nullptr, {}, {}, note);
        QVERIFY(whole.ok());
        QVERIFY(!seen.empty());
        const Snapshot& first = *seen.front();
        QVERIFY(first.floatModel && first.quantModel && !first.comparison && !first.data);
        QVERIFY(first.floatModel->model == (*whole)->floatModel->model); // so the picture stays
        QVERIFY(first.quantModel->model == (*whole)->quantModel->model);
        seen.clear();
        inputs.histograms = !inputs.histograms; // the same files: what is shown keeps its numbers meanwhile
        QVERIFY(buildSnapshot(inputs, *whole, {}, {}, note).ok());
        for (const SnapshotPtr& snapshot : seen)
            QVERIFY(snapshot->comparison);
    }
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
        Session session(realBuild());
        QSignalSpy settled(&session, &Session::settled), failed(&session, &Session::failed);
        QTemporaryDir folder;
        exportReport(session, folder.filePath(QStringLiteral("early.csv")));
        QTRY_COMPARE(failed.size(), 1); // nothing to report yet
        session.openInputs(exampleInputs());
        QVERIFY(settled.wait(60000));
        const auto written = [&](const QString& name) {
            exportReport(session, folder.filePath(name));
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

    /// What trying promises is what applying gives.
    void remediesAreTried()
    {
        Session session(realBuild());
        QSignalSpy settled(&session, &Session::settled), failed(&session, &Session::failed);
        QVERIFY(!session.canTryRemedies());
        session.openInputs(exampleInputs());
        QVERIFY(settled.wait(60000));
        QTRY_VERIFY(session.canTryRemedies()); // once the recipe of the file is read
        const auto db = [&] { return *session.comparison()->outputs.front().similarity.sqnrDb; };
        const double before = db();
        const size_t findings = session.comparison()->findings.size();
        session.tryRemedies();
        QTRY_VERIFY_WITH_TIMEOUT(session.jobs().idle(), 60000);
        QCOMPARE(failed.size(), 0);
        QVERIFY(!session.canTryRemedies());
        QCOMPARE(session.comparison()->findings.size(), findings);
        QCOMPARE(db(), before);
        const auto best = std::ranges::max_element(session.comparison()->findings, {},
            [](const Finding& finding) { return finding.measuredGainDb.value_or(-1000); });
        QVERIFY(*best->measuredGainDb > 3);
        const Finding applied = *best;
        RecipeEdits& edits = session.recipe();
        edits.apply(QStringLiteral("try"),
            withRemedies(edits.recipe(), changesOf(applied), *session.snapshot()->floatModel->draft));
        QVERIFY(settled.wait(60000));
        QVERIFY(std::abs(db() - before - *applied.measuredGainDb) < 1e-9);
        session.recipe().stack().undo();
        QTRY_COMPARE(db(), before);
        QVERIFY(!session.canTryRemedies()); // they are known still
    }

    void whatWasOpenStaysOpenAfterABadFile()
    {
        Session session(realBuild());
        QSignalSpy settled(&session, &Session::settled), failed(&session, &Session::failed);
        session.openInputs(exampleInputs());
        QVERIFY(settled.wait(60000));
        const SnapshotPtr before = session.snapshot();
        openQuantized(session, QStringLiteral(QS_SOURCE_DIR "/README.md"));
        QVERIFY(settled.wait(60000));
        QCOMPARE(failed.size(), 1);
        QCOMPARE(session.snapshot(), before);
    }

    void recipesGiveTheNumbersOfTheCommandLine()
    {
        Session session(realBuild());
        Inputs inputs = exampleInputs();
        inputs.quantPath.clear();
        QSignalSpy settled(&session, &Session::settled);
        session.openInputs(inputs);
        QVERIFY(settled.wait(60000));
        Recipe recipe = session.recipe().recipe();
        recipe.perChannel = true;
        recipe.calibration.kind = Calibrator::Entropy;
        recipe = withRange(recipe, session.comparison()->activations[1].name, -0.5, 1.25);
        session.recipe().apply(QStringLiteral("Several at once"), recipe);
        QTRY_VERIFY_WITH_TIMEOUT(!session.busy(), 60000);
        QVERIFY(!session.needsRun());
        QTemporaryDir folder;
        QFile file(folder.filePath(QStringLiteral("recipe.json")));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(QByteArray::fromStdString(recipeToJson(recipe)));
        file.close();
        QProcess program;
        program.start(QStringLiteral(QS_CLI),
            { QStringLiteral("compare"), QString::fromStdString(inputs.floatPath), QStringLiteral("--data"),
                QString::fromStdString(inputs.data.spec), QStringLiteral("--recipe"), file.fileName(),
                QStringLiteral("--json"), QStringLiteral("-") });
        QVERIFY(program.waitForFinished(60000));
        QFile report(folder.filePath(QStringLiteral("report.json")));
        QVERIFY(writeReport(*session.snapshot(), report.fileName().toStdString()).ok());
        QVERIFY(report.open(QIODevice::ReadOnly));
        QCOMPARE(numbersOf(program.readAllStandardOutput()), numbersOf(report.readAll()));
    }

    /// Whenever it comes, the older snapshot is there whole, and the next run gives what it would have given.
    void cancelLeavesTheOlderSnapshot()
    {
        Session session(realBuild());
        session.setAutoRun(false);
        Inputs inputs = exampleInputs();
        inputs.quantPath.clear();
        QSignalSpy settled(&session, &Session::settled);
        session.openInputs(inputs);
        QVERIFY(settled.wait(60000));
        const SnapshotPtr older = session.snapshot();
        Recipe next = session.recipe().recipe();
        next.calibration.kind = Calibrator::Mse;
        next.perChannel = true;
        session.recipe().apply(QStringLiteral("Several at once"), next);
        for (const int ms : { 0, 1, 2, 4, 8, 16, 32, 64 }) {
            session.run();
            QTest::qWait(ms);
            session.cancel();
            QTRY_VERIFY_WITH_TIMEOUT(!session.busy(), 60000);
            if (session.snapshot() != older)
                break; // it was done before
            QVERIFY(session.comparison() && !session.comparison()->partial);
            QVERIFY(session.needsRun());
        }
        session.run();
        QTRY_VERIFY_WITH_TIMEOUT(!session.busy(), 60000);
        inputs.recipe = next;
        const auto whole = buildSnapshot(inputs, nullptr, {}, {});
        QVERIFY(whole.ok());
        QCOMPARE(untimed(*session.snapshot()), untimed(**whole));
    }

    void workComesBackAfterACrash()
    {
        QTemporaryDir folder;
        // Beside each other, since paths in a project are relative to it.
        const QString live = folder.filePath(QStringLiteral("live"));
        const QString copy = folder.filePath(QStringLiteral("left/behind.qscope"));
        Recipe edited;
        {
            Session session(realBuild());
            Autosave autosave(session, live);
            QSignalSpy settled(&session, &Session::settled);
            Inputs inputs = exampleInputs();
            inputs.quantPath.clear();
            session.openInputs(inputs);
            QVERIFY(settled.wait(60000));
            QVERIFY(!QFile::exists(autosave.path())); // nothing to lose yet
            edited = session.recipe().recipe();
            edited.reduceRange = true;
            session.recipe().apply(QStringLiteral("Reduce range"), edited);
            autosave.flush();
            QVERIFY(QFile::exists(autosave.path()));
            QVERIFY(Autosave::lost(live).isEmpty()); // its process lives
            QVERIFY(QDir().mkpath(QFileInfo(copy).path()) && QFile::copy(autosave.path(), copy));
            session.forgetUnsaved();
        }
        QVERIFY(QDir(live).entryList({ QStringLiteral("*.qscope") }).isEmpty());
        QCOMPARE(Autosave::lost(QFileInfo(copy).path()), QStringList { copy });
        Session session(realBuild());
        QSignalSpy settled(&session, &Session::settled);
        openProject(session, copy);
        QVERIFY(settled.wait(60000));
        QVERIFY(session.recipe().recipe() == edited);
        QVERIFY(session.recipe().base() == quantscopeRecipe());
        QVERIFY(*session.snapshot()->inputs.recipe == edited);
        QVERIFY(session.recipe().editable());
        QVERIFY(session.runs().tree().runs().size() >= 1);
    }

    /// The models of the project are open already, so that nothing but the links is to be brought back.
    void linksOfAProjectComeBack()
    {
        Session session(realBuild());
        QSignalSpy saved(&session, &Session::projectSaved), opened(&session, &Session::projectOpened);
        const auto settle = [&] {
            if (session.needsRun())
                session.run();
            QTRY_VERIFY_WITH_TIMEOUT(!session.busy(), 60000);
        };
        session.openInputs(exampleInputs());
        settle();
        QVERIFY(session.snapshot()->alignment);
        const ValuePair& pair = session.snapshot()->alignment->values.front();
        const ManualLinks links = withoutLink({}, session.snapshot()->floatModel->graph().value(pair.floatValue).name,
            session.snapshot()->quantModel->graph().value(pair.quantValue).name);
        session.recipe().applyLinks(QStringLiteral("Keep apart"), links);
        settle();
        QVERIFY(session.snapshot()->inputs.links == links);
        QTemporaryDir folder;
        const QString path = folder.filePath(QStringLiteral("work.qscope"));
        saveProject(session, path, {});
        QTRY_COMPARE(saved.size(), 1);
        session.recipe().applyLinks(QStringLiteral("Pair again"), {});
        settle();
        QVERIFY(session.snapshot()->inputs.links.empty());
        openProject(session, path);
        QTRY_COMPARE_WITH_TIMEOUT(opened.size(), 1, 60000);
        settle();
        QVERIFY(session.recipe().links() == links);
        QVERIFY(session.snapshot()->inputs.links == links);
        QCOMPARE(session.snapshot()->alignment->apart.size(), size_t(1));
    }

    void anImportedFileCanBeEdited()
    {
        Session session(realBuild());
        QSignalSpy settled(&session, &Session::settled);
        session.openInputs(exampleInputs());
        QVERIFY(settled.wait(60000));
        QTRY_VERIFY_WITH_TIMEOUT(session.recipe().editable(), 60000);
        QVERIFY(session.recipe().baseOrigin() == ValueOrigin::Imported);
        const SnapshotPtr file = session.snapshot();
        const double before = *file->comparison->outputs[0].similarity.sqnrDb;
        session.recipe().apply(QStringLiteral("Recalibrate"),
            recalibrated(session.recipe().recipe(), GraphDraft(file->floatModel->model)));
        QTRY_VERIFY_WITH_TIMEOUT(!session.busy(), 60000);
        session.run(); // if it was thought to take long
        QTRY_VERIFY_WITH_TIMEOUT(!session.busy(), 60000);
        QVERIFY(*session.comparison()->outputs[0].similarity.sqnrDb > before + 3); // its ranges were too narrow
        const auto& runs = session.runs().tree().runs();
        QCOMPARE(runs.size(), size_t(2));
        QVERIFY(runs[0].imported && runs[1].parent == runs[0].id);
        session.recipe().stack().undo();
        QCOMPARE(session.snapshot(), file);
        QCOMPARE(session.runs().tree().current(), runs[0].id);
    }
};

QTEST_GUILESS_MAIN(TestRealComparison)
#include "test_real_comparison.moc"
