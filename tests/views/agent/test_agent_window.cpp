// SPDX-License-Identifier: GPL-3.0-or-later
// An agent that takes part in a window: what it sees, what it edits, what the person decides.
#include "core/agent/attach/window_sockets.h"
#include "tests/views/agent/attached_agent.h"
#include "tests/views/support/window_with_work.h"
#include "widgets/session/agent/agent_serving.h"
#include "widgets/session/export/exports.h"
#include "widgets/views/actions/named_action.h"
#include "widgets/views/agent/agent_chip.h"

#include <QDialog>
#include <QElapsedTimer>
#include <QTimer>

#include <csignal>

using namespace qs;
using namespace qs::test;

namespace {

const QJsonObject kExclude { { "changes", QJsonObject { { "exclude", QJsonArray { "/stem/conv/Conv" } } } },
    { "text", "exclude the first convolution" } };

/// A window that is open on both models, and whom it serves.
struct Served {
    explicit Served(const QString& folder)
        : work(folder)
    {
        work.session.setAutoTry(false);
        ok = work.open(bothModels()) && work.window.agents().start().ok();
    }
    QUndoStack& stack() { return work.session.recipe().stack(); }
    AgentServing& agents() { return work.window.agents(); }
    QAction* choice(const char* id)
    {
        for (QAction* action : work.window.findChildren<QAction*>())
            if (actionId(*action) == QLatin1String(id))
                return action;
        return nullptr;
    }
    Work work;
    bool ok = false;
};

} // namespace

class AgentWindowTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { setUpProgram(m_settings); }
    void init();
    void cleanup();
    void editsAreStepsOfUndo();
    void numbersAreTheWindows();
    void undoesOnlyItsOwn();
    void refusedEditsGoBack();
    void refusedEditsStayBehindThePersons();
    void unsavedWorkIsKept();
    void opensInTheWindow();
    void otherRecipesAreEdits();
    void openingGoesOn();
    void waitsForDialogsAndLessons();
    void writesOnlyWhereItMay();
    void projectsAreReplacedByNothing();
    void writesNothingWhereItOnlyLooks();
    void oneAgentAtATime();
    void windowClosesMidCall();
    void agentDiesMidCall();
    void longCallsAreJobs();
    void tellsHowFarTheWindowIs();
    void manyCallsKeepTheWindowQuick();
    void withoutAWindow();
    void deadSocketsGo();
    void chipTellsWhoIsThere();

private:
    QTemporaryDir m_settings;
    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<Served> m_served;
};

void AgentWindowTest::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
    qputenv("XDG_RUNTIME_DIR", m_folder->path().toUtf8());
    m_served = std::make_unique<Served>(m_folder->path());
    QVERIFY(m_served->ok);
}

void AgentWindowTest::cleanup()
{
    if (m_served)
        m_served->work.session.forgetUnsaved();
    m_served.reset();
}

void AgentWindowTest::editsAreStepsOfUndo()
{
    AttachedAgent agent(m_folder->path());
    QVERIFY(agent.hello());
    const QJsonObject edited = agent.call("edit_recipe", kExclude);
    QCOMPARE(edited["step"].toInt(), 1);
    QCOMPARE(m_served->stack().undoText(), "Agent: exclude the first convolution");
    QCOMPARE(edited["step_text"].toString(), m_served->stack().undoText());
    QCOMPARE(m_served->work.session.recipe().recipe().exclude.size(), size_t(1));
    QAction* undo = action(m_served->work, "Ctrl+Z");
    QVERIFY(undo && undo->isEnabled());
    undo->trigger();
    QVERIFY(m_served->work.session.recipe().recipe().exclude.empty());
    QCOMPARE(agent.call("edit_recipe")["step"].toInt(), 0);
    QCOMPARE(agent.call("edit_recipe")["redo_steps"].toInt(), 1);
    QVERIFY(agent.failure("undo").contains("not so many"));
    agent.call("edit_recipe", kExclude);
    QCOMPARE(agent.call("undo")["step"].toInt(), 0);
    QCOMPARE(agent.call("undo", { { "redo", true } })["step"].toInt(), 1);
}

void AgentWindowTest::numbersAreTheWindows()
{
    AttachedAgent agent(QString::fromStdString(example("")));
    QVERIFY(agent.hello());
    const auto outputOf
        = [&](const QJsonObject& told) { return told["outputs"].toArray()[0].toObject()["sqnr_db"].toDouble(); };
    const QJsonObject first = agent.call("compare");
    QCOMPARE(outputOf(first), *m_served->work.session.comparison()->outputs[0].similarity.sqnrDb);
    QVERIFY(first["before"].isNull());
    agent.call("edit_recipe", kExclude);
    QVERIFY(m_served->work.session.needsRun()); // the window waits for somebody to run it
    const QJsonObject second = agent.call("compare");
    QVERIFY(!m_served->work.session.needsRun());
    QCOMPARE(outputOf(second), *m_served->work.session.comparison()->outputs[0].similarity.sqnrDb);
    QVERIFY(outputOf(second) != outputOf(first));
    QCOMPARE(second["before"].toObject()["output_sqnr_db"].toDouble(), outputOf(first));
    const QJsonObject row = agent.call("tensor", { { "limit", 1 } })["activations"].toArray()[0].toObject();
    double worst = 1e9;
    for (const ActivationRow& shown : m_served->work.session.comparison()->activations)
        worst = std::min(worst, shown.accumulated.sqnrDb.value_or(1e9));
    QCOMPARE(row["sqnr_db"].toDouble(), worst);
}

void AgentWindowTest::undoesOnlyItsOwn()
{
    AttachedAgent agent(m_folder->path());
    QVERIFY(agent.hello());
    agent.call("edit_recipe", kExclude);
    m_served->work.setPercentile(99.5);
    QCOMPARE(m_served->stack().index(), 2);
    QVERIFY(agent.failure("undo").contains("the person's and not yours"));
    QCOMPARE(m_served->stack().index(), 2);
    m_served->stack().undo();
    QVERIFY(agent.failure("undo", { { "redo", true } }).contains("the person's and not yours"));
    QCOMPARE(agent.call("undo")["step"].toInt(), 0);
}

void AgentWindowTest::refusedEditsGoBack()
{
    m_served->work.setPercentile(99.5);
    AttachedAgent agent(m_folder->path());
    QVERIFY(agent.hello());
    agent.call("edit_recipe", kExclude);
    QTRY_VERIFY(m_served->choice("agents.accept")->isEnabled());
    m_served->choice("agents.accept")->trigger();
    agent.call("edit_recipe", { { "changes", QJsonObject { { "per_channel", false } } } });
    agent.call("edit_recipe", { { "changes", QJsonObject { { "reduce_range", true } } } });
    QCOMPARE(m_served->stack().index(), 4);
    QCOMPARE(m_served->agents().edits().open(), 2);
    m_served->choice("agents.refuse")->trigger();
    QCOMPARE(m_served->stack().index(), 2); // what was accepted stays
    QVERIFY(agent.failure("edit_recipe", { { "reset", "onnxruntime" } }).contains("lets you look and not edit"));
    QVERIFY(agent.failure("undo").contains("look and not edit"));
    QVERIFY(!agent.call("compare").contains("failed"));
    m_served->choice("agents.edit")->trigger();
    QVERIFY(!agent.call("edit_recipe", { { "reset", "onnxruntime" } }).contains("failed"));
}

void AgentWindowTest::refusedEditsStayBehindThePersons()
{
    AttachedAgent agent(m_folder->path());
    QVERIFY(agent.hello());
    agent.call("edit_recipe", kExclude);
    m_served->work.setPercentile(99.5);
    const Result<int> stayed = m_served->agents().edits().refuse();
    QVERIFY(stayed.ok());
    QCOMPARE(*stayed, 1);
    QCOMPARE(m_served->stack().index(), 2);
    QCOMPARE(m_served->work.percentile(), 99.5);
}

void AgentWindowTest::unsavedWorkIsKept()
{
    AttachedAgent agent(QString::fromStdString(example("")));
    QVERIFY(agent.hello());
    m_served->work.setPercentile(99.5);
    QVERIFY(m_served->work.session.unsaved());
    const QJsonObject other { { "float", "digits_float.onnx" } };
    QVERIFY(agent.failure("open", other).contains("not saved and would be lost"));
    QVERIFY(!m_served->work.question());
    QCOMPARE(m_served->work.session.files().quantPath, example("digits_qdq.onnx"));
    QCOMPARE(m_served->work.percentile(), 99.5);
    m_served->work.session.forgetUnsaved();
    QVERIFY(!agent.call("open", other).contains("failed"));
    QVERIFY(m_served->work.session.files().quantPath.empty());
    QCOMPARE(m_served->work.session.formers(), size_t(1)); // the person can go back to it
}

void AgentWindowTest::opensInTheWindow()
{
    AttachedAgent agent(QString::fromStdString(example("")));
    QVERIFY(agent.hello());
    QVERIFY(agent.failure("open", { { "float", "none.onnx" } }).contains("no file"));
    QVERIFY(agent.failure("open", { { "float", "digits_samples.npz" } }).contains("digits_samples.npz"));
    QCOMPARE(m_served->work.session.files().quantPath, example("digits_qdq.onnx"));
    const QJsonObject opened = agent.call("open",
        { { "float", "digits_float.onnx" }, { "quantized", "digits_qdq_narrow.onnx" }, { "data", "digits_samples.npz" },
            { "limit", 4 } });
    QCOMPARE(opened["session"].toString(), "window");
    QCOMPARE(m_served->work.session.files().quantPath, example("digits_qdq_narrow.onnx"));
    const QJsonObject first = agent.call("findings", { { "try_remedies", 1 } })["findings"].toArray()[0].toObject();
    QVERIFY(first["measured_gain_db"].isDouble());
    QVERIFY(m_served->work.session.comparison()->trials); // the window shows it, too
    QVERIFY(first.contains("rule"));
    QVERIFY(!agent.call("edit_recipe", { { "apply_finding", first["index"] } }).contains("failed"));
    QVERIFY(m_served->stack().undoText().startsWith("Agent: "));
    const QJsonObject after = agent.call("compare");
    QVERIFY(
        after["now"].toObject()["output_sqnr_db"].toDouble() > after["before"].toObject()["output_sqnr_db"].toDouble());
    QVERIFY(agent.failure("compare", { { "session", "s1" } }).contains("there is no session 's1'"));
}

/// Of the models that are open.
void AgentWindowTest::otherRecipesAreEdits()
{
    QVERIFY(m_served->work.open(floatAndData()));
    m_served->work.setPercentile(99.5);
    AttachedAgent agent(QString::fromStdString(example("")));
    QVERIFY(agent.hello());
    const QJsonObject arguments { { "float", "digits_float.onnx" }, { "data", "digits_samples.npz" }, { "limit", 4 },
        { "recipe", QJsonObject { { "reduce_range", true } } } };
    QVERIFY(!agent.call("open", arguments).contains("failed"));
    QVERIFY(m_served->stack().undoText().startsWith("Agent: "));
    QVERIFY(m_served->work.session.recipe().recipe().reduceRange);
    QVERIFY(m_served->work.session.unsaved());
    m_served->stack().undo();
    QCOMPARE(m_served->work.percentile(), 99.5);
}

void AgentWindowTest::openingGoesOn()
{
    AttachedAgent agent(QString::fromStdString(example("")));
    QVERIFY(agent.hello());
    agent.call("edit_recipe", kExclude);
    Session& session = m_served->work.session;
    session.forgetUnsaved();
    Inputs much = floatAndData();
    much.data = {};
    much.data.spec = "random:1000000";
    much.data.shapes["image"] = { 1, 1, 8, 8 };
    session.openInputs(much); // the person
    QVERIFY(agent.failure("open", { { "float", "digits_float.onnx" } }).contains("is opening something"));
    AgentEdits& edits = m_served->agents().edits();
    QVERIFY(!edits.undo(1).ok());
    QVERIFY(!edits.refuse().ok());
    QVERIFY(!edits.allowed());
    QCOMPARE(m_served->stack().index(), 1);
    QCOMPARE(session.work(), Session::Work::Opening);
    QCOMPARE(session.wantedFiles().data.spec, much.data.spec);
    session.cancel();
    QVERIFY(m_served->work.idle());
    QVERIFY(edits.refuse().ok());
    QCOMPARE(m_served->stack().index(), 0);
}

void AgentWindowTest::waitsForDialogsAndLessons()
{
    AttachedAgent agent(m_folder->path());
    QVERIFY(agent.hello());
    {
        QDialog dialog(&m_served->work.window);
        dialog.open();
        QVERIFY(agent.failure("edit_recipe", kExclude).contains("a dialog is open in the window"));
        QVERIFY(agent.failure("open", { { "float", "x.onnx" } }).contains("no file"));
        QVERIFY(!agent.call("compare").contains("failed"));
    }
    m_served->work.session.beginGuest();
    QVERIFY(agent.failure("edit_recipe", kExclude).contains("takes a lesson"));
    m_served->work.session.endGuest();
    QVERIFY(!agent.call("edit_recipe", kExclude).contains("failed"));
    QCOMPARE(m_served->stack().index(), 1);
}

void AgentWindowTest::writesOnlyWhereItMay()
{
    AttachedAgent agent(m_folder->path(), { m_folder->path() });
    QVERIFY(agent.hello());
    agent.call("edit_recipe", kExclude);
    QVERIFY(agent.failure("quantize", { { "path", "/tmp/outside.onnx" } }).contains("outside the allowed folders"));
    QVERIFY(!agent.call("quantize", { { "path", "mended.onnx" } }).contains("failed"));
    QVERIFY(QFile::exists(m_folder->filePath("mended.onnx")));
    const QString beside = QString::fromStdString(example("digits_qdq.onnx"));
    QVERIFY(agent.failure("quantize", { { "path", beside }, { "overwrite", true } }).contains("outside"));
    const QString copy = m_folder->filePath("copy.onnx");
    QVERIFY(QFile::copy(beside, copy));
    Inputs inputs = bothModels();
    inputs.quantPath = copy.toStdString();
    m_served->work.session.forgetUnsaved();
    QVERIFY(m_served->work.open(inputs)); // by the person
    QVERIFY(agent.failure("export", { { "path", "copy.onnx" }, { "format", "json" }, { "overwrite", true } })
                .contains("the quantized model"));
    QCOMPARE(bytesOf(copy), bytesOf(beside));
}

void AgentWindowTest::projectsAreReplacedByNothing()
{
    const QString project = m_folder->filePath("work.qscope");
    QVERIFY(m_served->work.saveTo(project));
    const QByteArray saved = bytesOf(project);
    AttachedAgent agent(m_folder->path(), { m_folder->path() });
    QVERIFY(agent.hello());
    for (const char* format : { "json", "recipe" })
        QVERIFY(agent.failure("export", { { "path", "work.qscope" }, { "format", format }, { "overwrite", true } })
                    .contains("the project that is open"));
    exportReport(m_served->work.session, project); // nor by the person's reports
    QVERIFY(m_served->work.idle());
    QCOMPARE(bytesOf(project), saved);
    m_served->work.setPercentile(99.5);
    QVERIFY(m_served->work.saveTo(project));
    QVERIFY(!m_served->work.session.unsaved());
    QVERIFY(bytesOf(project) != saved);
}

void AgentWindowTest::writesNothingWhereItOnlyLooks()
{
    AttachedAgent agent(m_folder->path(), { m_folder->path() });
    QVERIFY(agent.hello());
    const QJsonObject report { { "path", "report.json" }, { "format", "json" } };
    m_served->agents().edits().setAllowed(false);
    QVERIFY(agent.failure("export", report).contains("look and not edit"));
    m_served->agents().edits().setAllowed(true);
    m_served->work.session.beginGuest();
    QVERIFY(agent.failure("export", report).contains("takes a lesson"));
    m_served->work.session.endGuest();
    QVERIFY(!QFile::exists(m_folder->filePath("report.json")));
    QVERIFY(!agent.call("export", report).contains("failed"));
}

void AgentWindowTest::oneAgentAtATime()
{
    AttachedAgent agent(m_folder->path());
    QVERIFY(agent.hello());
    AttachedAgent second(m_folder->path());
    QVERIFY(second.ended());
    QCOMPARE(second.process().exitCode(), 3);
    QVERIFY(second.process().readAllStandardError().contains("another agent is attached to the window"));
    QVERIFY(m_served->agents().guest());
    m_served->agents().letGo();
    QTRY_VERIFY(!m_served->agents().guest());
    QVERIFY(agent.failure("compare").contains("the person at the window let this agent go"));
    AttachedAgent third(m_folder->path());
    QVERIFY(third.hello());
}

void AgentWindowTest::windowClosesMidCall()
{
    Inputs inputs = bothModels();
    inputs.data.limit.reset();
    QVERIFY(m_served->work.open(inputs));
    AttachedAgent agent(QString::fromStdString(example("")));
    QVERIFY(agent.hello());
    const int call = agent.sendCall("sensitivity", { { "by", "tensor" } });
    QTest::qWait(50);
    QElapsedTimer clock;
    clock.start();
    m_served->work.session.forgetUnsaved();
    m_served.reset();
    QVERIFY2(clock.elapsed() < 5000, qPrintable(QString::number(clock.elapsed())));
    QVERIFY(agent.told(call)["failed"].toString().contains("the window was closed"));
    QVERIFY(agent.failure("compare").contains("the window was closed"));
    agent.process().closeWriteChannel();
    QVERIFY(agent.ended());
    QCOMPARE(agent.process().exitCode(), 3);
    QVERIFY(agent.process().readAllStandardError().startsWith("error: the window was closed"));
}

void AgentWindowTest::agentDiesMidCall()
{
    {
        AttachedAgent agent(m_folder->path());
        QVERIFY(agent.hello());
        agent.sendCall("sensitivity", { { "by", "tensor" } });
        QTest::qWait(100);
        kill(pid_t(agent.process().processId()), SIGKILL);
        QVERIFY(agent.ended());
    }
    QTRY_VERIFY_WITH_TIMEOUT(!m_served->agents().guest(), 5000);
    AttachedAgent next(m_folder->path());
    QVERIFY(next.hello());
    QVERIFY(!next.call("compare").contains("failed"));
}

void AgentWindowTest::longCallsAreJobs()
{
    Inputs inputs = bothModels();
    inputs.data = {};
    inputs.data.spec = "random:5000"; // some seconds of work on any machine
    inputs.data.shapes["image"] = { 1, 1, 8, 8 };
    QVERIFY(m_served->work.open(inputs));
    AttachedAgent agent(m_folder->path());
    QVERIFY(agent.hello());
    Session& session = m_served->work.session;
    const int call = agent.sendCall("sensitivity", { { "by", "tensor" } });
    QTRY_VERIFY_WITH_TIMEOUT(session.jobs().running("agent"), 10000);
    QCOMPARE(m_served->agents().doing(), "sensitivity");
    session.jobs().cancelTag("agent"); // the person
    const QString told = agent.told(call)["failed"].toString();
    QVERIFY2(told.contains("the person at the window stopped this") || told.isEmpty(), qPrintable(told));
    QTRY_VERIFY(!session.jobs().running("agent"));
    QVERIFY(!agent.call("compare").contains("failed"));
}

void AgentWindowTest::tellsHowFarTheWindowIs()
{
    AttachedAgent agent(QString::fromStdString(example("")));
    QVERIFY(agent.hello());
    const QJsonObject arguments { { "float", "digits_float.onnx" }, { "quantized", "digits_qdq.onnx" },
        { "data", "random:1000000" }, { "shapes", QJsonObject { { "image", QJsonArray { 1, 1, 8, 8 } } } } };
    const int call = agent.send("tools/call",
        { { "name", "open" }, { "arguments", arguments }, { "_meta", QJsonObject { { "progressToken", 7 } } } });
    QVERIFY(agent.waitForProgress());
    m_served->work.session.cancel(); // the person
    const QString told = agent.told(call)["failed"].toString(); // of the comparison, or of the call itself
    QVERIFY2(told.contains("the person at the window stopped"), qPrintable(told));
    QVERIFY(agent.hello()); // and goes on
}

void AgentWindowTest::manyCallsKeepTheWindowQuick()
{
    AttachedAgent agent(m_folder->path());
    QVERIFY(agent.hello());
    constexpr int kCalls = 10'000;
    QElapsedTimer beat;
    qint64 slowest = 0;
    QTimer ticks;
    connect(&ticks, &QTimer::timeout, this, [&] { slowest = std::max(slowest, beat.restart()); });
    beat.start();
    ticks.start(5);
    const size_t before = agent.answers();
    for (int i = 0; i < kCalls; ++i) {
        if (i % 4 == 3)
            agent.sendCall("tensor", { { "name", "no such tensor" } });
        else if (i % 4 == 2)
            agent.sendCall("edit_recipe", { { "changes", QJsonObject { { "nothing", 1 } } } });
        else
            agent.sendCall("edit_recipe");
        if (i % 100 == 0)
            agent.say("{ this is no message");
    }
    QElapsedTimer clock;
    clock.start();
    QVERIFY(agent.waitForAnswers(before + size_t(kCalls) + 1, 100'000)); // lines that are none share id 0
    qInfo("10,000 calls in %lld ms, the slowest turn of the window took %lld ms", clock.elapsed(), slowest);
    QVERIFY2(slowest < 1000, qPrintable(QString::number(slowest)));
    QCOMPARE(m_served->stack().index(), 0);
}

void AgentWindowTest::withoutAWindow()
{
    m_served.reset();
    AttachedAgent agent(m_folder->path());
    QVERIFY(agent.ended());
    QCOMPARE(agent.process().exitCode(), 3);
    QVERIFY(agent.process().readAllStandardError().startsWith("error: no window lets agents attach"));
}

void AgentWindowTest::deadSocketsGo()
{
    m_served->agents().stop();
    QTRY_VERIFY(windowSockets().empty());
    std::string dead;
    {
        auto made = makeWindowSocket();
        QVERIFY(made.ok());
        dead = made->path;
        QCOMPARE(QFile::permissions(QString::fromStdString(dead))
                & (QFile::ReadGroup | QFile::ReadOther | QFile::WriteOther),
            QFile::Permissions());
    }
    QVERIFY(QFile::exists(QString::fromStdString(dead)));
    QVERIFY(m_served->agents().start().ok());
    const std::vector<std::string> found = windowSockets();
    QCOMPARE(found.size(), size_t(1));
    QCOMPARE(QString::fromStdString(found[0]), m_served->agents().socket());
    QVERIFY(!QFile::exists(QString::fromStdString(dead)));
}

void AgentWindowTest::chipTellsWhoIsThere()
{
    auto* const chip = m_served->work.window.findChild<AgentChip*>();
    QVERIFY(chip && chip->isVisible());
    QCOMPARE(chip->text(), "Agents may attach");
    {
        AttachedAgent agent(m_folder->path());
        QVERIFY(agent.hello());
        QTRY_COMPARE(chip->text(), "Agent: Tester");
        QVERIFY(chip->toolTip().contains(m_folder->path()));
        agent.call("edit_recipe", kExclude);
        QTRY_COMPARE(chip->text(), "Agent: Tester · 1 edit");
        m_served->choice("agents.refuse")->trigger();
        QTRY_COMPARE(chip->text(), "Agent: Tester · looks only");
    }
    QTRY_VERIFY(chip->text().startsWith("Agents may attach"));
    m_served->choice("agents.attach")->trigger();
    QVERIFY(!m_served->agents().serving());
    QVERIFY(!chip->isVisible());
    qputenv("XDG_RUNTIME_DIR", m_folder->filePath("none/there").toUtf8());
    m_served->choice("agents.attach")->trigger();
    QVERIFY(!m_served->agents().serving());
    QVERIFY(!m_served->choice("agents.attach")->isChecked()); // it could not start
}

QTEST_MAIN(AgentWindowTest)
#include "test_agent_window.moc"
