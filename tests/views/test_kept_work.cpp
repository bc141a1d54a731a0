// SPDX-License-Identifier: GPL-3.0-or-later
// Work that is not saved is asked about before anything takes its place, and comes back after a crash.
#include "tests/views/support/window_with_work.h"
#include "widgets/session/files/termination_signals.h"
#include "widgets/views/lesson/lesson_room.h"
#include "widgets/views/window/recovery_bar.h"

#include <QMenu>
#include <QSignalSpy>
#include <QTest>
#include <QTimer>
#include <QUndoStack>

#include <algorithm>
#include <csignal>
#include <optional>

using namespace qs;
using namespace qs::test;

class TestKeptWork : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { setUpProgram(m_settings); }

    void init() { m_folder.emplace(); }

    void whatIsUnsaved_data()
    {
        QTest::addColumn<QString>("change");
        QTest::addColumn<bool>("unsaved");
        for (const char* change : { "recipe", "link", "name of a run", "note of a run", "run" })
            QTest::newRow(change) << QString::fromLatin1(change) << true;
        for (const char* change : { "nothing", "layout", "selection", "data", "undone" })
            QTest::newRow(change) << QString::fromLatin1(change) << false;
    }

    void whatIsUnsaved()
    {
        QFETCH(QString, change);
        QFETCH(bool, unsaved);
        Work work(m_folder->path());
        QVERIFY(work.open(change == QStringLiteral("link") ? bothModels() : floatAndData()));
        QVERIFY(!work.session.unsaved());
        QVERIFY(!work.window.isWindowModified());
        make(work, change);
        QVERIFY(work.idle());
        QCOMPARE(work.session.unsaved(), unsaved);
        QCOMPARE(work.window.isWindowModified(), unsaved);
        work.autosave.flush();
        QCOMPARE(QFile::exists(work.autosave.path()), unsaved);
        QVERIFY(work.saveTo(file("saved.qscope")));
        QVERIFY(!work.session.unsaved());
        QVERIFY(work.window.windowTitle().startsWith(QStringLiteral("saved")));
        work.autosave.flush();
        QVERIFY(!QFile::exists(work.autosave.path()));
    }

    void closingAsks_data()
    {
        QTest::addColumn<QString>("way");
        QTest::addColumn<int>("answer");
        for (const char* way : { "close", "Ctrl+Q", "Ctrl+W" })
            for (const auto& [name, answer] : { std::pair("save", QMessageBox::Save),
                     std::pair("discard", QMessageBox::Discard), std::pair("cancel", QMessageBox::Cancel) })
                QTest::addRow("%s, %s", way, name) << QString::fromLatin1(way) << int(answer);
    }

    void closingAsks()
    {
        QFETCH(QString, way);
        QFETCH(int, answer);
        Work work(m_folder->path());
        QVERIFY(work.open(floatAndData()));
        const QString project = file("work.qscope");
        QVERIFY(work.saveTo(project));
        work.setPercentile(97);
        work.autosave.flush();
        const QString kept = work.autosave.path();
        QVERIFY(QFile::exists(kept));
        close(work, way);
        QVERIFY(work.question());
        QVERIFY(work.window.isVisible());
        QCOMPARE(work.percentile(), 97.0);
        QVERIFY(QFile::exists(kept)); // until there is an answer
        QVERIFY(work.answer(QMessageBox::StandardButton(answer)));
        QVERIFY(work.idle());
        const bool cancelled = answer == QMessageBox::Cancel, ends = way != QStringLiteral("Ctrl+W");
        QTRY_COMPARE(work.window.isVisible(), cancelled || !ends);
        QCOMPARE(work.session.files().floatPath.empty(), !cancelled && !ends);
        work.autosave.flush();
        QCOMPARE(QFile::exists(kept), cancelled);
        QCOMPARE(work.session.unsaved(), cancelled);
        const auto saved = readProject(project.toStdString());
        QVERIFY(saved.ok());
        QCOMPARE(saved->inputs.recipe->calibration.percentile == 97.0, answer == QMessageBox::Save);
    }

    /// Nobody answers: the process is told to go all the same.
    void withoutAnAnswerTheWorkIsKept()
    {
        QString kept;
        {
            Work work(m_folder->path());
            QVERIFY(work.open(floatAndData()));
            work.setPercentile(97);
            work.window.close();
            QVERIFY(work.question());
            kept = work.autosave.path();
        }
        QCOMPARE(Autosave::lost(m_folder->path()), QStringList { kept });
    }

    /// Each time anew, as long as the user goes on working.
    void signalsAskAgain()
    {
        Work work(m_folder->path());
        QVERIFY(work.open(floatAndData()));
        work.setPercentile(97);
        TerminationSignals termination;
        connect(&termination, &TerminationSignals::asked, &work.window, &QWidget::close);
        connect(&work.window.unsaved(), &UnsavedQuestion::stayed, &termination, &TerminationSignals::rearm);
        for (const int signal : { SIGHUP, SIGHUP, SIGTERM, SIGINT }) {
            QCOMPARE(::raise(signal), 0);
            QTRY_VERIFY(work.question());
            work.autosave.flush();
            QVERIFY(QFile::exists(work.autosave.path()));
            QVERIFY(work.answer(QMessageBox::Cancel));
            QVERIFY(work.window.isVisible());
        }
        QCOMPARE(::raise(SIGTERM), 0);
        QTRY_VERIFY(work.question());
        QVERIFY(work.answer(QMessageBox::Discard));
        QTRY_VERIFY(!work.window.isVisible());
    }

    void logoutAsksAtOnce_data()
    {
        QTest::addColumn<int>("answer");
        QTest::addColumn<bool>("goes");
        QTest::newRow("save") << int(QMessageBox::Save) << true;
        QTest::newRow("discard") << int(QMessageBox::Discard) << true;
        QTest::newRow("cancel") << int(QMessageBox::Cancel) << false;
    }

    void logoutAsksAtOnce()
    {
        QFETCH(int, answer);
        QFETCH(bool, goes);
        Work work(m_folder->path());
        QVERIFY(work.window.unsaved().askAtOnce()); // nothing to ask
        QVERIFY(work.open(floatAndData()));
        QVERIFY(work.saveTo(file("work.qscope")));
        work.setPercentile(97);
        QTimer::singleShot(0, &work.window, [&work, answer] {
            QTest::mouseClick(work.question()->button(QMessageBox::StandardButton(answer)), Qt::LeftButton);
        });
        QCOMPARE(work.window.unsaved().askAtOnce(), goes);
        QCOMPARE(work.session.unsaved(), !goes);
    }

    /// A lesson has set aside what is not saved: it is left, and the work is asked about as ever.
    void logoutAsksDuringALesson()
    {
        Work work(m_folder->path());
        QVERIFY(work.open(floatAndData()));
        work.setPercentile(97);
        QVERIFY(beginLesson(work));
        QVERIFY(!work.session.unsaved());
        QTimer::singleShot(0, &work.window, [&work] {
            QVERIFY(work.question());
            QTest::mouseClick(work.question()->button(QMessageBox::Cancel), Qt::LeftButton);
        });
        QVERIFY(!work.window.unsaved().askAtOnce());
        QVERIFY(!work.session.guest());
        QVERIFY(work.session.unsaved());
        QCOMPARE(work.percentile(), 97.0);
    }

    /// Each of the works before is one step away, whichever was open in between.
    void goesFurtherBack()
    {
        Work work(m_folder->path());
        QVERIFY(work.open(bothModels()));
        QVERIFY(work.open(floatAndData()));
        Inputs fewer = floatAndData(); // other data, the same work
        fewer.data.limit = 20;
        QVERIFY(work.open(fewer));
        QCOMPARE(work.session.formers(), size_t(2));
        QMenu* further = nullptr;
        for (QMenu* menu : work.window.findChildren<QMenu*>())
            if (menu->title().remove(u'&') == QStringLiteral("Further back"))
                further = menu;
        QVERIFY(further && further->isEnabled());
        QCOMPARE(further->actions().size(), 1);
        further->actions().front()->trigger();
        QVERIFY(work.idle());
        QCOMPARE(work.session.files().quantPath, bothModels().quantPath);
        QCOMPARE(work.session.formers(), size_t(2));
        QCOMPARE(work.session.former(0).data.limit, fewer.data.limit);
        QCOMPARE(work.session.former(1).data.limit, floatAndData().data.limit);
        action(work, QStringLiteral("Ctrl+Shift+T"))->trigger();
        QVERIFY(work.idle());
        QCOMPARE(work.session.files().data.limit, fewer.data.limit);
        QVERIFY(work.session.files().quantPath.empty());
        QCOMPARE(work.session.formers(), size_t(2));
    }

    void openingAsks_data()
    {
        QTest::addColumn<QString>("way");
        for (const char* way : { "float", "quantized", "drop", "project", "recent" })
            QTest::newRow(way) << QString::fromLatin1(way);
    }

    /// Other models take the place of the work only when somebody says so, and one step brings all of it back.
    void openingAsks()
    {
        QFETCH(QString, way);
        Work work(m_folder->path());
        QVERIFY(work.open(bothModels()));
        QVERIFY(work.saveTo(file("other.qscope")));
        QVERIFY(work.open(floatAndData()));
        work.setPercentile(97);
        work.setPercentile(98);
        work.session.recipe().stack().undo();
        const SavedSteps steps = work.session.recipe().steps();
        for (const auto answer : { QMessageBox::Cancel, QMessageBox::Discard }) {
            openBy(work, way);
            QTRY_VERIFY_WITH_TIMEOUT(work.question(), kPatience);
            QCOMPARE(work.percentile(), 97.0);
            QVERIFY(work.answer(answer));
            QVERIFY(work.idle());
            QCOMPARE(work.session.formers() > 0 && work.session.files().quantPath != floatAndData().quantPath,
                answer == QMessageBox::Discard && way != QStringLiteral("float"));
            QCOMPARE(work.session.unsaved(), answer == QMessageBox::Cancel);
        }
        QVERIFY(work.percentile() != 97.0);
        action(work, QStringLiteral("Ctrl+Shift+T"))->trigger();
        QVERIFY(work.idle());
        QVERIFY(work.session.unsaved());
        QCOMPARE(work.percentile(), 97.0);
        QCOMPARE(work.session.recipe().steps().texts, steps.texts);
        work.session.recipe().stack().redo();
        QCOMPARE(work.percentile(), 98.0);
    }

    /// Steps of undo are part of the work: whoever saves it is no worse off than whoever loses it.
    void savedWithItsSteps()
    {
        const QString project = file("steps.qscope");
        {
            Work work(m_folder->path());
            QVERIFY(work.open(floatAndData()));
            work.setPercentile(97);
            work.setPercentile(98);
            work.setPercentile(99);
            work.session.recipe().stack().undo();
            QVERIFY(work.saveTo(project));
        }
        Work work(file("again"));
        openProject(work.session, project);
        QVERIFY(work.idle());
        QVERIFY(!work.session.unsaved());
        QCOMPARE(work.percentile(), 98.0);
        const auto texts = work.session.recipe().steps().texts;
        QCOMPARE(texts, (std::vector<std::string> { "Percentile 97", "Percentile 98", "Percentile 99" }));
        work.session.recipe().stack().redo();
        QCOMPARE(work.percentile(), 99.0);
        QVERIFY(work.session.unsaved());
        work.session.recipe().stack().setIndex(1);
        QCOMPARE(work.percentile(), 97.0);
        work.session.recipe().stack().setIndex(2);
        QVERIFY(!work.session.unsaved()); // as it was saved
    }

    void recoveredAsItWas()
    {
        const QString project = file("mine.qscope"), left = file("left.qscope");
        SavedSteps steps;
        RunTree runs;
        {
            Work work(m_folder->path());
            QVERIFY(work.open(floatAndData()));
            QVERIFY(work.saveTo(project));
            work.setPercentile(97);
            work.session.run();
            QVERIFY(work.idle());
            work.setPercentile(98);
            work.setPercentile(99);
            work.session.recipe().stack().undo();
            work.autosave.flush();
            QVERIFY(QFile::copy(work.autosave.path(), left)); // as a kill leaves it
            steps = work.session.recipe().steps();
            runs = work.session.runs().tree();
        }
        Work work(file("again"));
        work.window.offerRecovery({ left });
        QVERIFY(work.window.findChild<RecoveryBar*>()->accessibleDescription().contains(QStringLiteral("mine")));
        QTest::mouseClick(work.button(QStringLiteral("Restore")), Qt::LeftButton);
        QVERIFY(work.idle());
        QCOMPARE(work.session.project(), project);
        QVERIFY(work.window.windowTitle().startsWith(QStringLiteral("mine")));
        QVERIFY(work.window.isWindowModified());
        QCOMPARE(work.percentile(), 98.0);
        QCOMPARE(work.session.recipe().steps().texts, steps.texts);
        QCOMPARE(work.session.recipe().steps().index, steps.index);
        QVERIFY(work.session.runs().tree().runs().size() >= runs.runs().size());
        for (const RecipeRun& run : runs.runs())
            QCOMPARE(work.session.runs().tree().find(run.id)->name, run.name);
        work.session.recipe().stack().redo();
        QCOMPARE(work.percentile(), 99.0);
        work.session.recipe().stack().setIndex(0);
        QCOMPARE(work.percentile(), Recipe().calibration.percentile);
        work.autosave.flush();
        QCOMPARE(work.autosave.path(), left); // it is this session's to keep now
        Autosave::discard(left); // as another window would that offers it, too
        QVERIFY(QFile::exists(left));
        QVERIFY(work.saveTo(project));
        work.autosave.flush();
        QVERIFY(!QFile::exists(left));
    }

    /// However work that was kept comes to be opened in a lesson: leaving it must not take the file away.
    void aLessonTakesNoKeptFile()
    {
        const QString left = file("left.qscope");
        Work work(m_folder->path());
        QVERIFY(work.open(floatAndData()));
        work.setPercentile(98);
        work.autosave.flush();
        QVERIFY(QFile::copy(work.autosave.path(), left));
        QVERIFY(work.saveTo(file("saved.qscope")));
        QVERIFY(beginLesson(work));
        recoverProject(work.session, left);
        QVERIFY(work.idle());
        work.window.lessons().leave();
        QVERIFY(work.idle());
        work.autosave.flush();
        QVERIFY(QFile::exists(left));
    }

    /// A lesson on the very files of the work: Save must not put the lesson's recipe into the project.
    void savingInALessonSparesTheProject()
    {
        Work work(m_folder->path());
        Inputs same = floatAndData();
        same.data.limit = 60; // those of the lesson
        QVERIFY(work.open(same));
        const QString project = file("mine.qscope");
        QVERIFY(work.saveTo(project));
        const QByteArray saved = bytesOf(project);
        QVERIFY(beginLesson(work));
        QVERIFY(work.session.project().isEmpty());
        QTest::keyClick(&work.window, Qt::Key_S, Qt::ControlModifier); // asks where to
        QVERIFY(work.idle());
        for (QDialog* dialog : work.window.findChildren<QDialog*>())
            dialog->reject();
        QCOMPARE(bytesOf(project), saved);
        work.window.lessons().leave();
        QCOMPARE(work.session.project(), project);
        QVERIFY(!work.session.unsaved());
    }

    /// A recipe that nothing can be run with yet is work, too: it opens as it was, and a sentence says why.
    void unfinishedRecipesComeBack_data()
    {
        QTest::addColumn<bool>("saved");
        QTest::newRow("saved") << true;
        QTest::newRow("recovered") << false;
    }

    void unfinishedRecipesComeBack()
    {
        QFETCH(bool, saved);
        const QString left = file("left.qscope");
        Recipe wanted;
        {
            Work work(m_folder->path());
            QVERIFY(work.open(floatAndData()));
            wanted = work.session.recipe().recipe();
            wanted.activationType = DType::Float8E4M3FN; // the weights' type is to follow
            work.session.recipe().apply(QStringLiteral("Activations float8"), wanted);
            if (saved) {
                QVERIFY(work.saveTo(left));
            } else {
                work.autosave.flush();
                QVERIFY(QFile::copy(work.autosave.path(), left));
            }
        }
        Work work(file("again"));
        QSignalSpy failures(&work.session, &Session::failed);
        if (saved) {
            openProject(work.session, left);
        } else {
            work.window.offerRecovery({ left });
            QTest::mouseClick(work.button(QStringLiteral("Restore")), Qt::LeftButton);
        }
        QVERIFY(work.idle());
        QCOMPARE(failures.size(), 0);
        QVERIFY(work.session.snapshot()->floatModel);
        QVERIFY(work.session.recipe().recipe() == wanted);
        QCOMPARE(work.session.unsaved(), !saved);
        const auto& warnings = work.session.snapshot()->warnings;
        QVERIFY(std::ranges::any_of(warnings, [](const std::string& text) { return text.find("draft") != text.npos; }));
        wanted.activationType = Recipe().activationType;
        work.session.recipe().apply(QStringLiteral("Activations int8"), wanted);
        work.session.run();
        QVERIFY(work.idle());
        QVERIFY(work.session.snapshot()->comparison);
    }

    void damagedRecoveriesAreRefused_data()
    {
        QTest::addColumn<QByteArray>("from");
        QTest::addColumn<QByteArray>("to");
        QTest::newRow("cut off") << QByteArray() << QByteArray();
        QTest::newRow("step that fits nothing") << QByteArray("\"op\": \"") << QByteArray("\"op\": \"remove/");
        QTest::newRow("no such step") << QByteArray("\"index\": 1") << QByteArray("\"index\": 7");
    }

    void damagedRecoveriesAreRefused()
    {
        QFETCH(QByteArray, from);
        QFETCH(QByteArray, to);
        const QString left = file("left.qscope");
        {
            Work work(m_folder->path());
            QVERIFY(work.open(floatAndData()));
            work.setPercentile(97);
            work.autosave.flush();
            QByteArray bytes = bytesOf(work.autosave.path());
            if (from.isEmpty())
                bytes.truncate(bytes.size() / 2);
            else
                QVERIFY(bytes.contains(from));
            QVERIFY(writeFileOf(left, from.isEmpty() ? bytes : bytes.replace(from, to)));
        }
        const QByteArray before = bytesOf(left);
        Work work(file("again"));
        QSignalSpy failures(&work.session, &Session::failed);
        work.window.offerRecovery({ left });
        QTest::mouseClick(work.button(QStringLiteral("Restore")), Qt::LeftButton);
        QVERIFY(work.idle());
        QCOMPARE(failures.size(), 1);
        QCOMPARE(failures.front().front().value<Issue>().file, left.toStdString());
        QCOMPARE(bytesOf(left), before);
        QVERIFY(!work.session.snapshot()->floatModel);
    }

    /// What earlier versions kept has neither steps nor the project's name.
    void olderRecoveriesOpen()
    {
        const QString left = file("left.qscope");
        {
            Work work(m_folder->path());
            QVERIFY(work.open(floatAndData()));
            work.setPercentile(97);
            QVERIFY(writeProject(projectOf(work.session), left.toStdString()).ok());
        }
        Work work(file("again"));
        work.window.offerRecovery({ left });
        QTest::mouseClick(work.button(QStringLiteral("Restore")), Qt::LeftButton);
        QVERIFY(work.idle());
        QCOMPARE(work.percentile(), 97.0);
        QVERIFY(work.session.unsaved());
        QVERIFY(work.session.project().isEmpty());
        QVERIFY(work.window.windowTitle().startsWith(QStringLiteral("digits_float")));
    }

    /// What is open gives way to it only by its button.
    void nobodyRestoresByAccident()
    {
        const QString left = file("left.qscope");
        {
            Work work(m_folder->path());
            QVERIFY(work.open(floatAndData()));
            work.setPercentile(97);
            QVERIFY(writeProject(projectOf(work.session), left.toStdString()).ok());
        }
        Work work(file("again"));
        work.window.offerRecovery({ left });
        auto* bar = work.window.findChild<RecoveryBar*>();
        QVERIFY(work.window.focusWidget() && !bar->isAncestorOf(work.window.focusWidget()));
        QPushButton* restore = work.button(QStringLiteral("Restore"));
        restore->setFocus();
        QTest::keyClick(restore, Qt::Key_Return, Qt::ControlModifier);
        QTest::keyClick(restore, Qt::Key_Enter, Qt::ControlModifier | Qt::KeypadModifier);
        QVERIFY(bar->isVisible());
        QTest::keyClick(restore, Qt::Key_Return);
        QVERIFY(!bar->isVisible());
        QVERIFY(work.idle());
    }

private:
    QString file(const QString& name) const { return m_folder->filePath(name); }
    QString file(const char* name) const { return file(QString::fromLatin1(name)); }

    QString otherData() const
    {
        const QString path = file("more.npz");
        QFile::copy(QString::fromStdString(example("digits_samples.npz")), path);
        return path;
    }

    void make(Work& work, const QString& change) const
    {
        RunList& runs = work.session.runs();
        const RunId run = runs.tree().current();
        if (change == QStringLiteral("recipe") || change == QStringLiteral("undone") || change == QStringLiteral("run"))
            work.setPercentile(97);
        if (change == QStringLiteral("run")) {
            work.session.run();
            QVERIFY(work.idle());
        }
        if (change == QStringLiteral("undone") || change == QStringLiteral("run"))
            work.session.recipe().stack().undo();
        if (change == QStringLiteral("link"))
            work.session.recipe().applyLinks(QStringLiteral("Apart"), withoutLink({}, "a", "b"));
        if (change == QStringLiteral("name of a run"))
            runs.rename(run, QStringLiteral("Mine"));
        if (change == QStringLiteral("note of a run"))
            runs.annotate(run, QStringLiteral("good"));
        if (change == QStringLiteral("layout"))
            work.window.showView(QStringLiteral("runs"));
        if (change == QStringLiteral("selection"))
            work.session.selection().clear();
        if (change == QStringLiteral("data"))
            openData(work.session, otherData());
    }

    static bool beginLesson(Work& work)
    {
        LessonRoom& lessons = work.window.lessons();
        lessons.beginById(QStringLiteral("scale-and-zero-point"));
        return QTest::qWaitFor([&] { return !lessons.run().busy() && work.idle(); }, kPatience)
            && lessons.run().active() && work.session.guest();
    }

    static void close(Work& work, const QString& way)
    {
        if (way == QStringLiteral("close"))
            work.window.close();
        else if (way == QStringLiteral("Ctrl+Q"))
            QTest::keyClick(&work.window, Qt::Key_Q, Qt::ControlModifier);
        else
            QTest::keyClick(&work.window, Qt::Key_W, Qt::ControlModifier);
    }

    void openBy(Work& work, const QString& way) const
    {
        const QString quantized = QString::fromStdString(example("digits_qdq.onnx"));
        const QString copy = file("copy.onnx");
        QFile::copy(QString::fromStdString(example("digits_float.onnx")), copy);
        if (way == QStringLiteral("float"))
            openFloat(work.session, copy);
        else if (way == QStringLiteral("quantized"))
            openQuantized(work.session, quantized);
        else if (way == QStringLiteral("drop"))
            drop(work.window, { quantized });
        else if (way == QStringLiteral("project"))
            openProject(work.session, file("other.qscope"));
        else
            openRecent(work.session, { {}, bothModels() });
    }

    QTemporaryDir m_settings;
    std::optional<QTemporaryDir> m_folder;
};

QTEST_MAIN(TestKeptWork)
#include "test_kept_work.moc"
