// SPDX-License-Identifier: GPL-3.0-or-later
// What is left of the work when the process is killed. Called with "child FOLDER" (or "random FOLDER SEED", "save
// FOLDER", "asks FOLDER STAYS", "lesson FOLDER") it is the process to kill: it edits, or saves, or is asked to go, and
// says so, line by line.
#include "core/project/snapshot/build_snapshot.h"
#include "tests/support/real_build.h"
#include "widgets/session/files/autosave.h"
#include "widgets/session/files/projects.h"
#include "widgets/session/files/termination_signals.h"
#include "widgets/session/lesson/lesson_run.h"
#include "widgets/session/session.h"

#include <QCoreApplication>
#include <QCryptographicHash>
#include <QDir>
#include <QProcess>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <csignal>
#include <cstdio>
#include <random>

using namespace qs;
using qs::test::realBuild;

namespace {

constexpr int kPatience = 60'000;
constexpr int kEdits = 200; ///< more than anybody waits for

/// The recipe after so many edits.
double percentileAfter(int edits) { return 90 + 0.01 * edits; }

bool openExample(Session& session)
{
    session.setAutoRun(false);
    Inputs inputs;
    inputs.floatPath = QS_SOURCE_DIR "/resources/examples/digits_float.onnx";
    inputs.data.spec = QS_SOURCE_DIR "/resources/examples/digits_samples.npz";
    inputs.data.limit = 4;
    QSignalSpy settled(&session, &Session::settled);
    session.openInputs(inputs);
    return settled.wait(kPatience);
}

void say(const QByteArray& line)
{
    std::printf("%s\n", line.constData());
    std::fflush(stdout);
}

/// What has to come back: recipe, links, steps of undo and the names of runs.
QByteArray digest(const Recipe& recipe, const ManualLinks& links, const SavedSteps& steps, const RunTree& runs)
{
    Project project;
    project.inputs.recipe = recipe;
    project.inputs.links = links;
    project.recovery = Recovery { {}, steps };
    std::vector<RecipeRun> named = runs.runs();
    for (RecipeRun& run : named)
        run.numbers.reset(); // found again
    project.runs = RunTree::of(std::move(named), runs.current());
    const std::string text = projectToJson(project, "/none.qscope");
    return QCryptographicHash::hash(QByteArray::fromStdString(text), QCryptographicHash::Sha1).toHex();
}

QByteArray digest(Session& session)
{
    RecipeHistory& history = session.recipe();
    return digest(history.recipe(), history.links(), history.steps(), session.runs().tree());
}

/// One of the things people do.
void editSomehow(Session& session, std::mt19937& random)
{
    RecipeHistory& history = session.recipe();
    const auto number = random() % 1000;
    Recipe next = history.recipe();
    switch (random() % 8) {
    case 0:
        return history.stack().undo();
    case 1:
        return history.stack().redo();
    case 2:
        return history.applyLinks(QStringLiteral("Link"),
            withLink(history.links(), "a" + std::to_string(number % 5), "b" + std::to_string(number % 7)));
    case 3:
        return session.runs().annotate(session.runs().tree().current(), QString::number(number));
    case 4:
        next.exclude.push_back("node_" + std::to_string(number));
        break;
    case 5:
        next.tensors["tensor_" + std::to_string(number % 9)].parts.front()
            = { .lowest = -0.1, .highest = 0.01 * number };
        break;
    case 6:
        next.reduceRange = !next.reduceRange;
        break;
    default:
        next.calibration.percentile = 90 + 0.01 * double(number);
    }
    history.apply(QStringLiteral("Edit “%1”").arg(number), next);
}

int runRandomly(const QString& folder, unsigned seed)
{
    Session session(realBuild());
    Autosave autosave(session, folder);
    if (!openExample(session))
        return 1;
    std::mt19937 random(seed), pauses(seed + 1);
    for (int edit = 1; edit <= kEdits; ++edit) {
        editSomehow(session, random);
        say(QByteArray::number(edit));
        if (pauses() % 4 != 0)
            autosave.flush();
        QCoreApplication::processEvents();
    }
    return 0;
}

/// Of the same edits, the beginning too.
QList<QByteArray> statesAfter(unsigned seed, int edits)
{
    Session session(realBuild());
    if (!openExample(session))
        return {};
    std::mt19937 random(seed);
    QList<QByteArray> states { digest(session) };
    while (states.size() <= edits) {
        editSomehow(session, random);
        states << digest(session);
        QCoreApplication::processEvents();
    }
    return states;
}

int saveForEver(const QString& folder)
{
    Project project;
    project.inputs.floatPath = "/models/float.onnx";
    project.inputs.recipe = Recipe();
    for (int i = 0;; ++i) {
        project.layout = std::string(200'000, char('a' + i % 26));
        if (!writeProject(project, folder.toStdString() + "/saved.qscope").ok())
            return 1;
        say(QByteArray::number(i));
    }
}

int runChild(const QString& folder)
{
    Session session(realBuild());
    Autosave autosave(session, folder);
    if (!openExample(session))
        return 1;
    for (int edit = 1; edit <= kEdits; ++edit) {
        autosave.flush(); // people are slower than the disk
        Recipe next = session.recipe().recipe();
        next.calibration.percentile = percentileAfter(edit);
        session.recipe().apply(QStringLiteral("Edit %1").arg(edit), next);
        say(QByteArray::number(edit));
        QTest::qWait(5);
    }
    return 0;
}

/// Work that is not saved, then a lesson, with edits of its own.
int takeLesson(const QString& folder)
{
    Session session(realBuild());
    Autosave autosave(session, folder);
    if (!openExample(session))
        return 1;
    Recipe next = session.recipe().recipe();
    next.calibration.percentile = percentileAfter(1);
    session.recipe().apply(QStringLiteral("Edit"), next);
    say(digest(session)); // written, or still on its way
    LessonRun run(session);
    LessonProgress from;
    from.step = 8;
    if (!run.begin(QStringLiteral(QS_SOURCE_DIR "/resources/lessons/scale-and-zero-point"),
                QS_SOURCE_DIR "/resources/examples", from)
             .ok())
        return 1;
    QObject::connect(&run, &LessonRun::stepShown, &session, [&session, &run] {
        for (int edit = 2; edit < 6; ++edit) {
            Recipe own = session.recipe().recipe();
            own.calibration.percentile = percentileAfter(edit);
            session.recipe().apply(QStringLiteral("Edit in the lesson"), own);
        }
        run.goTo(run.progress().step == 8 ? 7 : 8);
        say("step");
    });
    return QCoreApplication::exec();
}

/// With unsaved work. So often the user, when asked, goes on working; then nobody answers.
int askAtSignals(const QString& folder, int stays)
{
    Session session(realBuild());
    Autosave autosave(session, folder);
    if (!openExample(session))
        return 1;
    TerminationSignals termination;
    QObject::connect(&termination, &TerminationSignals::asked, &session, [&termination, &stays] {
        if (stays-- > 0)
            termination.rearm();
        say("asked");
    });
    Recipe next = session.recipe().recipe();
    next.calibration.percentile = percentileAfter(1);
    session.recipe().apply(QStringLiteral("Edit"), next);
    autosave.flush();
    say("ready");
    return QCoreApplication::exec();
}

QByteArray nextLine(QProcess& child)
{
    if (!child.canReadLine())
        child.waitForReadyRead(kPatience);
    return child.readLine().trimmed();
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
        QSignalSpy settled(&session, &Session::settled), opened(&session, &Session::recovered);
        openProject(session, lost.front());
        QVERIFY(settled.wait(kPatience));
        QCOMPARE(opened.size(), 1);
        QVERIFY(session.unsaved());
        QCOMPARE(session.recipe().recipe().calibration.percentile, kept);
        QVERIFY(session.comparison() || session.needsRun());
    }

    void randomEditsComeBack_data()
    {
        QTest::addColumn<unsigned>("seed");
        for (unsigned seed = 1; seed <= 12; ++seed)
            QTest::addRow("seed %u", seed) << seed;
    }

    /// Whenever it is killed, one of the states that the work had comes back as a whole.
    void randomEditsComeBack()
    {
        QFETCH(unsigned, seed);
        QTemporaryDir folder;
        QProcess child;
        child.start(QCoreApplication::applicationFilePath(),
            { QStringLiteral("random"), folder.path(), QString::number(seed) });
        std::mt19937 random(seed * 77);
        const int enough = int(2 + random() % 60);
        int seen = 0;
        while (seen < enough) {
            if (!child.canReadLine())
                QVERIFY2(child.waitForReadyRead(kPatience), child.readAllStandardError().constData());
            while (child.canReadLine())
                seen = child.readLine().trimmed().toInt();
        }
        QTest::qWait(int(random() % 20));
        child.kill();
        QVERIFY(child.waitForFinished(kPatience));
        while (child.canReadLine())
            seen = child.readLine().trimmed().toInt();
        const QList<QByteArray> states = statesAfter(seed, seen + 1); // one may have been made and not told

        const QStringList lost = Autosave::lost(folder.path());
        if (lost.isEmpty())
            QSKIP("the work was as saved when it was killed"); // everything undone
        const auto project = readProject(lost.front().toStdString());
        QVERIFY(project.ok());
        Session session(realBuild());
        session.setAutoRun(false);
        QSignalSpy settled(&session, &Session::settled);
        openProject(session, lost.front());
        QVERIFY(settled.wait(kPatience));
        const QByteArray kept
            = digest(*project->inputs.recipe, project->inputs.links, project->recovery->steps, project->runs);
        QVERIFY2(states.contains(kept), "half a state, or none that there was");
        RecipeHistory& history = session.recipe();
        QCOMPARE(digest(history.recipe(), history.links(), history.steps(), project->runs), kept);
        for (const RecipeRun& run : project->runs.runs())
            QCOMPARE(session.runs().tree().find(run.id)->note, run.note);
    }

    void signalsAskFirst_data()
    {
        QTest::addColumn<int>("signal");
        QTest::addColumn<int>("stays");
        for (const auto& [name, signal] :
            { std::pair("SIGHUP", SIGHUP), std::pair("SIGTERM", SIGTERM), std::pair("SIGINT", SIGINT) })
            for (const int stays : { 0, 2 })
                QTest::addRow("%s, %d answers", name, stays) << signal << stays;
    }

    /// A terminal that is closed, a logout, Ctrl+C: the program asks, each time anew where the user goes on working.
    /// What comes while nobody has answered ends it, and the work is offered at the next start.
    void signalsAskFirst()
    {
        QFETCH(int, signal);
        QFETCH(int, stays);
        QTemporaryDir folder;
        QProcess child;
        child.start(
            QCoreApplication::applicationFilePath(), { QStringLiteral("asks"), folder.path(), QString::number(stays) });
        QCOMPARE(nextLine(child), QByteArray("ready"));
        for (int asked = 0; asked <= stays; ++asked) {
            QCOMPARE(::kill(pid_t(child.processId()), signal), 0);
            QCOMPARE(nextLine(child), QByteArray("asked"));
            QCOMPARE(child.state(), QProcess::Running);
            QCOMPARE(QDir(folder.path()).entryList({ QStringLiteral("*.qscope") }).size(), 1);
        }
        QCOMPARE(::kill(pid_t(child.processId()), signal), 0);
        QVERIFY(child.waitForFinished(kPatience));
        QCOMPARE(child.exitStatus(), QProcess::CrashExit);
        QCOMPARE(child.exitCode(), signal);
        const QStringList lost = Autosave::lost(folder.path());
        QCOMPARE(lost.size(), 1);
        const auto project = readProject(lost.front().toStdString());
        QVERIFY(project.ok());
        QCOMPARE(project->inputs.recipe->calibration.percentile, percentileAfter(1));
    }

    void lessonsLeaveTheWorkAlone_data()
    {
        QTest::addColumn<int>("steps");
        for (const int steps : { 0, 1, 3 })
            QTest::addRow("killed after %d steps", steps) << steps;
    }

    /// What was set aside comes back with its steps of undo, and nothing of the lesson.
    void lessonsLeaveTheWorkAlone()
    {
        QFETCH(int, steps);
        QTemporaryDir folder;
        QProcess child;
        child.start(QCoreApplication::applicationFilePath(), { QStringLiteral("lesson"), folder.path() });
        const QByteArray own = nextLine(child);
        for (int step = 0; step < steps; ++step)
            QCOMPARE(nextLine(child), QByteArray("step"));
        if (steps == 0)
            QTest::qWait(200); // it has just begun
        child.kill();
        QVERIFY(child.waitForFinished(kPatience));
        QCOMPARE(child.exitStatus(), QProcess::CrashExit);
        const QStringList lost = Autosave::lost(folder.path());
        QCOMPARE(lost.size(), 1);
        const auto project = readProject(lost.front().toStdString());
        QVERIFY(project.ok());
        QCOMPARE(project->inputs.data.limit, std::optional<size_t>(4)); // the lesson takes more pictures
        Session session(realBuild());
        session.setAutoRun(false);
        QSignalSpy settled(&session, &Session::settled);
        openProject(session, lost.front());
        QVERIFY(settled.wait(kPatience));
        QVERIFY(session.unsaved() && !session.guest());
        const RecipeHistory& history = session.recipe();
        QCOMPARE(digest(history.recipe(), history.links(), history.steps(), project->runs), own);
        QCOMPARE(session.recipe().recipe().calibration.percentile, percentileAfter(1));
        session.recipe().stack().undo();
        QVERIFY(session.recipe().recipe().calibration.percentile != percentileAfter(1));
    }

    void savingIsNeverHalf()
    {
        for (const int moment : { 3, 11, 17, 29, 41 }) {
            QTemporaryDir folder;
            QProcess child;
            child.start(QCoreApplication::applicationFilePath(), { QStringLiteral("save"), folder.path() });
            QVERIFY(child.waitForReadyRead(kPatience)); // the first is written
            QTest::qWait(moment);
            child.kill();
            QVERIFY(child.waitForFinished(kPatience));
            const auto project = readProject(folder.filePath(QStringLiteral("saved.qscope")).toStdString());
            QVERIFY(project.ok());
            QCOMPARE(project->layout, std::string(200'000, project->layout.front()));
        }
    }
};

int main(int argc, char** argv)
{
    QCoreApplication application(argc, argv);
    QCoreApplication::setApplicationName(QStringLiteral("quantscope-test"));
    if (argc == 3 && QByteArray(argv[1]) == "child")
        return runChild(QString::fromLocal8Bit(argv[2]));
    if (argc == 3 && QByteArray(argv[1]) == "lesson")
        return takeLesson(QString::fromLocal8Bit(argv[2]));
    if (argc == 3 && QByteArray(argv[1]) == "save")
        return saveForEver(QString::fromLocal8Bit(argv[2]));
    if (argc == 4 && QByteArray(argv[1]) == "asks")
        return askAtSignals(QString::fromLocal8Bit(argv[2]), QByteArray(argv[3]).toInt());
    if (argc == 4 && QByteArray(argv[1]) == "random")
        return runRandomly(QString::fromLocal8Bit(argv[2]), QByteArray(argv[3]).toUInt());
    TestCrash test;
    return QTest::qExec(&test, argc, argv);
}

#include "test_crash.moc"
