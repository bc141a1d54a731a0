// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/fake_snapshot.h"
#include "widgets/session/details/shown_place.h"
#include "widgets/session/files/file_roles.h"
#include "widgets/session/files/open_files.h"
#include "widgets/session/files/recent_files.h"
#include "widgets/session/session.h"

#include <QFile>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QThread>

#include <atomic>

using namespace qs;

namespace {

Inputs pairOf(const std::string& quantized)
{
    Inputs inputs;
    inputs.floatPath = "/models/micro_kws/float.onnx";
    inputs.quantPath = quantized;
    inputs.data.spec = "/models/micro_kws/samples.npz";
    return inputs;
}

/// A builder that never runs on the GUI thread, told by the quantized path what to do.
struct FakeBuild {
    std::atomic<int> calls { 0 };
    std::atomic<int> onGuiThread { 0 };
    std::atomic<bool> release { false }; ///< lets "slow" end

    Result<SnapshotPtr> operator()(const Inputs& inputs, const SnapshotPtr&, const ProgressFn& progress,
        const CancelToken& cancel, const PartialFn& partial)
    {
        ++calls;
        onGuiThread += QThread::currentThread() == QCoreApplication::instance()->thread();
        progress("run", 1, 4);
        if (inputs.quantPath == "bad")
            return badInput("the file is truncated", "bad", "copy it again");
        if (inputs.quantPath == "slow" || inputs.quantPath == "partial") {
            fake::Options options;
            options.partial = true;
            if (inputs.quantPath == "partial") {
                auto early = std::make_shared<Snapshot>(*fake::comparison(options));
                early->comparison->findings.clear(); // found in the whole result only
                partial(early);
            }
            while (!cancel.cancelled() && !release)
                QThread::msleep(1);
            if (cancel.cancelled())
                return cancelled();
        }
        auto snapshot = std::make_shared<Snapshot>(*fake::comparison());
        snapshot->inputs = inputs;
        return SnapshotPtr(snapshot);
    }
};

BuildFn builderOf(FakeBuild& build)
{
    return [&build](const Inputs& inputs, const SnapshotPtr& previous, const ProgressFn& progress,
               const CancelToken& cancel,
               const PartialFn& partial) { return build(inputs, previous, progress, cancel, partial); };
}

} // namespace

class TestSession : public QObject {
    Q_OBJECT
private slots:
    void initTestCase()
    {
        QCoreApplication::setOrganizationName(QStringLiteral("Quantscope"));
        QCoreApplication::setApplicationName(QStringLiteral("quantscope-test"));
        QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, m_folder.path());
    }

    void opensOnWorker()
    {
        FakeBuild build;
        Session session(builderOf(build));
        QVERIFY(!session.comparison());
        QSignalSpy changed(&session, &Session::snapshotChanged);
        QSignalSpy settled(&session, &Session::settled);
        session.openInputs(pairOf("qdq"));
        QVERIFY(session.busy());
        QVERIFY(session.work() == Session::Work::Opening);
        QVERIFY(settled.wait());
        QVERIFY(session.work() == Session::Work::Settled);
        QCOMPARE(changed.size(), 1);
        QVERIFY(session.comparison());
        QCOMPARE(build.onGuiThread.load(), 0);
        QCOMPARE(session.selection().current().activation, std::optional<size_t>(0)); // the first finding's place
        QCOMPARE(session.jobs().model().rows().front().state, JobState::Done);
    }

    void failureLeavesWhatWasOpen()
    {
        FakeBuild build;
        Session session(builderOf(build));
        QSignalSpy settled(&session, &Session::settled);
        QSignalSpy failures(&session, &Session::failed);
        session.openInputs(pairOf("qdq"));
        QVERIFY(settled.wait());
        const SnapshotPtr before = session.snapshot();
        openQuantized(session, QStringLiteral("bad"));
        QVERIFY(settled.wait());
        QCOMPARE(failures.size(), 1);
        QCOMPARE(session.snapshot(), before);
        openData(session, QStringLiteral("other.npz")); // starts from what is open, not from what failed
        QVERIFY(settled.wait());
        QCOMPARE(session.snapshot()->inputs.quantPath, std::string("qdq"));
        QCOMPARE(session.snapshot()->inputs.data.spec, std::string("other.npz"));
    }

    void newerJobReplacesOlder()
    {
        FakeBuild build;
        Session session(builderOf(build));
        QSignalSpy changed(&session, &Session::snapshotChanged);
        QSignalSpy cancelledSpy(&session, &Session::cancelled);
        QSignalSpy settled(&session, &Session::settled);
        session.openInputs(pairOf("slow"));
        session.openInputs(pairOf("qdq"));
        QVERIFY(settled.wait());
        QTRY_VERIFY(session.jobs().idle());
        QCOMPARE(changed.size(), 1); // the older result is dropped
        QCOMPARE(session.snapshot()->inputs.quantPath, std::string("qdq"));
        QCOMPARE(cancelledSpy.size(), 0); // replaced, not cancelled by the user
    }

    void cancelReturnsQuickly()
    {
        FakeBuild build;
        Session session(builderOf(build));
        QSignalSpy cancelledSpy(&session, &Session::cancelled);
        session.openInputs(pairOf("slow"));
        QTRY_COMPARE(build.calls.load(), 1);
        QElapsedTimer timer;
        timer.start();
        session.cancel();
        QVERIFY(cancelledSpy.wait());
        QVERIFY(timer.elapsed() < 2000);
        QVERIFY(!session.comparison());
        QCOMPARE(session.jobs().model().rows().front().state, JobState::Cancelled);
    }

    void undoLeavesAnOpeningAlone()
    {
        FakeBuild build;
        Session session(builderOf(build));
        QSignalSpy settled(&session, &Session::settled);
        session.openInputs(pairOf("qdq"));
        QVERIFY(settled.wait());
        session.recipe().applyLinks(QStringLiteral("Link"), withLink({}, "a", "b"));
        QTRY_VERIFY(session.work() == Session::Work::Settled);
        Opening other = session.openingOf(pairOf("slow"));
        other.recipe.calibration.percentile = 91;
        other.project = QStringLiteral("other.qscope");
        session.open(other);
        session.recipe().stack().undo();
        QVERIFY(session.work() == Session::Work::Opening);
        session.cancel();
        QVERIFY(settled.wait());
        QTRY_VERIFY(session.work() == Session::Work::Settled); // what stays is brought up to date
        QVERIFY(session.snapshot()->inputs.links.empty());
        QCOMPARE(session.files().quantPath, std::string("qdq"));
        session.recipe().stack().redo();
        QTRY_VERIFY(session.work() == Session::Work::Settled);
        session.open(other);
        session.recipe().stack().undo();
        session.reload(); // reads the same anew
        build.release = true;
        QTRY_VERIFY(session.work() == Session::Work::Settled);
        QCOMPARE(session.files().quantPath, std::string("slow"));
        QCOMPARE(session.project(), QStringLiteral("other.qscope"));
        QCOMPARE(session.recipe().recipe().calibration.percentile, 91.0);
    }

    void partialResultsAreShown()
    {
        FakeBuild build;
        Session session(builderOf(build));
        QSignalSpy changed(&session, &Session::snapshotChanged);
        QSignalSpy settled(&session, &Session::settled);
        session.openInputs(pairOf("partial"));
        QTRY_COMPARE(changed.size(), 1);
        QVERIFY(session.comparison()->partial);
        build.release = true;
        QVERIFY(settled.wait());
        QCOMPARE(changed.size(), 2);
        QVERIFY(!session.comparison()->partial);
    }

    void suggestionFollowsTheFinalResult()
    {
        for (const bool chosen : { false, true }) {
            FakeBuild build;
            Session session(builderOf(build));
            QSignalSpy changed(&session, &Session::snapshotChanged);
            QSignalSpy settled(&session, &Session::settled);
            session.openInputs(pairOf("partial"));
            QTRY_COMPARE(changed.size(), 1);
            const auto early = session.selection().current().activation;
            QVERIFY(early && *early != 0);
            if (chosen) { // away and back: now it is the user's
                session.selection().selectActivation(2);
                session.selection().selectActivation(*early);
            }
            build.release = true;
            QVERIFY(settled.wait());
            QCOMPARE(session.selection().current().activation, chosen ? early : std::optional<size_t>(0));
            QCOMPARE(session.selection().canGoBack(), true);
            session.selection().goBack();
            QCOMPARE(session.selection().current().empty(), !chosen); // the early suggestion left no trace
        }
    }

    void destroyedWhileBusy()
    {
        FakeBuild build;
        {
            Session session(builderOf(build));
            session.openInputs(pairOf("slow"));
            QTRY_COMPARE(build.calls.load(), 1);
        }
        QCOMPARE(build.calls.load(), 1);
    }

    void jobsReportExceptions()
    {
        JobList jobs;
        QString message;
        JobRequest request;
        request.tag = QStringLiteral("t");
        request.process = [](const JobContext&) -> Result<std::function<void()>> { throw std::runtime_error("boom"); };
        request.failed = [&message](const Issue& issue) { message = QString::fromStdString(issue.what); };
        jobs.start(request);
        QTRY_COMPARE(message, QStringLiteral("unexpected: boom"));
        QVERIFY(jobs.idle());
    }

    void selectionHistory()
    {
        Selection selection;
        selection.rebind(fake::comparison());
        QSignalSpy changed(&selection, &Selection::changed);
        selection.selectActivation(2);
        QCOMPARE(selection.current().node, fake::comparison()->comparison->activations[2].floatNode);
        selection.selectNode(Side::Float, NodeId(0)); // its output is activation 1
        QCOMPARE(selection.current().activation, std::optional<size_t>(1));
        selection.selectWeight(3);
        QVERIFY(!selection.current().activation);
        QVERIFY(selection.selectByName("layer/conv_4"));
        QCOMPARE(selection.current().activation, std::optional<size_t>(4));
        QVERIFY(selection.selectByName("layer/conv_2.weight"));
        QCOMPARE(selection.current().weight, std::optional<size_t>(1));
        QVERIFY(!selection.selectByName("nowhere"));
        QCOMPARE(changed.size(), 5);
        selection.goBack();
        selection.goBack();
        QCOMPARE(selection.current().weight, std::optional<size_t>(3));
        selection.goForward();
        QCOMPARE(selection.current().activation, std::optional<size_t>(4));
        selection.selectActivation(1); // cuts what was forward
        QVERIFY(!selection.canGoForward());
        selection.selectActivation(1);
        QCOMPARE(changed.size(), 9); // the same again is no change
        selection.selectActivation(77); // does not exist
        QVERIFY(selection.current().empty());
    }

    void selectionSurvivesNewSnapshot()
    {
        Selection selection;
        fake::Options options;
        selection.rebind(fake::comparison(options));
        selection.selectActivation(1);
        selection.selectActivation(4);
        options.tensors = 4; // tensor 4 is gone
        options.offsetDb = 5;
        selection.rebind(fake::comparison(options));
        QVERIFY(selection.current().empty());
        selection.selectActivation(2);
        options.tensors = 9;
        selection.rebind(fake::comparison(options));
        QCOMPARE(selection.current().activation, std::optional<size_t>(2));
        options.prefix = "other";
        selection.rebind(fake::comparison(options));
        QVERIFY(selection.current().empty());
    }

    void pinnedPlacesAreOfTheSnapshotAtHand()
    {
        Session session([](const Inputs& inputs, const SnapshotPtr&, const ProgressFn&, const CancelToken&,
                            const PartialFn&) -> Result<SnapshotPtr> {
            fake::Options options;
            options.tensors = inputs.quantPath == "large" ? 9 : 3;
            auto snapshot = std::make_shared<Snapshot>(*fake::comparison(options));
            snapshot->inputs = inputs;
            return SnapshotPtr(snapshot);
        });
        QSignalSpy settled(&session, &Session::settled);
        session.openInputs(pairOf("large"));
        QVERIFY(settled.wait());
        std::unique_ptr<ShownPlace> pinned;
        int asked = 0;
        QStringList wrong;
        const auto ask = [&] { // as a view does that hears of the change before the place itself
            ++asked;
            const Place& place = pinned->current();
            const Graph& graph = session.snapshot()->floatModel->graph();
            if (place.node.valid() && place.node.index() >= graph.nodes().size())
                wrong << QString::number(place.node.index());
        };
        connect(&session, &Session::snapshotChanged, this, ask);
        connect(&session.selection(), &Selection::changed, this, ask);
        pinned = std::make_unique<ShownPlace>(session);
        session.selection().selectActivation(8);
        pinned->setPinned(true);
        QSignalSpy changed(pinned.get(), &ShownPlace::changed);
        session.openInputs(pairOf("small"));
        QVERIFY(settled.wait());
        QVERIFY(asked >= 3);
        QCOMPARE(wrong, QStringList());
        QVERIFY(!pinned->pinned());
        QVERIFY(!changed.isEmpty());
    }

    void roles()
    {
        const QString examples = QStringLiteral(QS_SOURCE_DIR "/resources/examples/");
        QCOMPARE(fileRole(examples + "digits_float.onnx").value(), FileRole::Float);
        QCOMPARE(fileRole(examples + "digits_qdq.onnx").value(), FileRole::Quantized);
        QCOMPARE(fileRole(examples + "digits_samples.npz").value(), FileRole::Data);
        QCOMPARE(fileRole(examples).value(), FileRole::Data);
        QVERIFY(!fileRole(examples + "README.md").ok());
        QVERIFY(!fileRole(examples + "missing.onnx").ok());
        const auto placed = withFiles(
            {}, { examples + "digits_samples.npz", examples + "digits_qdq.onnx", examples + "digits_float.onnx" }, {});
        QVERIFY(placed.ok());
        QVERIFY(placed->inputs.floatPath.ends_with("digits_float.onnx"));
        QVERIFY(placed->inputs.quantPath.ends_with("digits_qdq.onnx"));
        QVERIFY(placed->inputs.data.spec.ends_with("digits_samples.npz"));
        const auto replaced = withFiles(placed->inputs, { examples + "digits_float.onnx" }, {});
        QVERIFY(replaced->inputs.quantPath.empty()); // another network: nothing of the old one stays
        Inputs alone;
        alone.floatPath = (examples + "digits_qdq.onnx").toStdString();
        alone.data.spec = "random:4";
        const auto joined = withFiles(alone, { examples + "digits_float.onnx" }, {});
        QVERIFY(joined->inputs.floatPath.ends_with("digits_float.onnx"));
        QVERIFY(
            joined->inputs.quantPath.ends_with("digits_qdq.onnx")); // it was opened first, and belongs to the float one
        QCOMPARE(joined->inputs.data.spec, alone.data.spec);
    }

    void recentFiles()
    {
        RecentFiles recent;
        recent.clear();
        recent.add({});
        QVERIFY(recent.entries().empty());
        Inputs growing;
        growing.floatPath = "/m/float.onnx";
        recent.add(growing);
        growing.quantPath = "/m/qdq.onnx";
        recent.add(growing);
        growing.data.spec = "random:4";
        recent.add(growing);
        QCOMPARE(recent.entries().size(), size_t(1)); // one thing, opened piece by piece
        for (int i = 0; i < 20; ++i) {
            Inputs other;
            other.floatPath = "/m/" + std::to_string(i) + ".onnx";
            recent.add(other);
        }
        QCOMPARE(recent.entries().size(), size_t(RecentFiles::kKept));
        const RecentFiles again;
        QCOMPARE(again.entries().front().inputs.floatPath, std::string("/m/19.onnx"));
        QCOMPARE(RecentFiles::label(growing), QStringLiteral("m/float.onnx ⇄ qdq.onnx · random:4"));
        Inputs elsewhere;
        elsewhere.floatPath = "/n/m/19.onnx";
        recent.add(elsewhere);
        recent.add(elsewhere, QStringLiteral("/one/a.qscope"));
        recent.add(elsewhere, QStringLiteral("/two/a.qscope"));
        QCOMPARE(recent.labels().mid(0, 4),
            (QStringList { "two/a.qscope · m/19.onnx", "one/a.qscope · m/19.onnx", "n/m/19.onnx", "/m/19.onnx" }));
        QTemporaryDir folder;
        const QString model = folder.filePath(QStringLiteral("here.onnx"));
        QFile file(model);
        QVERIFY(file.open(QIODevice::WriteOnly));
        Inputs here;
        here.floatPath = model.toStdString();
        here.data.spec = "random:4";
        recent.add(here);
        recent.dropMissing();
        QCOMPARE(recent.entries().size(), size_t(1));
        QCOMPARE(RecentFiles().entries().size(), size_t(1)); // written already
    }

    void themes()
    {
        for (const Theme& theme : { Theme::light(), Theme::darkOne() }) {
            QCOMPARE(theme.magnitude(1), QColor(0xfee838)); // worst is bright in both
            QCOMPARE(theme.magnitude(0), QColor(0x00224e));
            QVERIFY(theme.text != theme.panel);
        }
        QCOMPARE(Theme::textOn(QColor(0xfee838)), QColor(0x111418));
        QCOMPARE(Theme::textOn(QColor(0x00224e)), QColor(Qt::white));
        QVERIFY(!themeChoiceFromName(QStringLiteral("pink")));
    }

private:
    QTemporaryDir m_folder;
};

QTEST_GUILESS_MAIN(TestSession)
#include "test_session.moc"
