// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/views/lesson/lesson_window.h"

#include "core/lesson/file/read_lesson.h"
#include "widgets/models/base/formatting.h"
#include "widgets/session/lesson/setup_change.h"
#include "widgets/views/base/error_bar.h"
#include "widgets/views/lesson/lesson_paper.h"
#include "widgets/views/window/dock_layout.h"
#include "widgets/views/window/named_layouts.h"

#include <QFile>
#include <QFileInfo>
#include <QMenuBar>
#include <QMessageBox>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTextBrowser>

namespace qs::test {

class LessonWindowTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase();
    void wholeLesson_data();
    void wholeLesson();
    void byKeyboard();
    void focusGivesNothingUp();
    void startingAgainAsks();
    void keysOfMenusAreFree();
    void changesAreToldInWords();
    void wrongAnswersAndHints();
    void misconceptionIsRun();
    void leavingRestoresAll();
    void leavingToTheStartPage();
    void setupIsUndoable();
    void picksStay();
    void resumes();
    void resultsAreThoseOfTheAnswers();
    void hostileFolders();
    void presentation();
    void papers();

private:
    QTemporaryDir m_settings;
};

void LessonWindowTest::initTestCase() { keepSettingsIn(m_settings, QStringLiteral("quantscope-test-lessons")); }

void LessonWindowTest::wholeLesson_data()
{
    QTest::addColumn<QString>("id");
    const auto folders = lessonFolders(QS_SOURCE_DIR "/resources/lessons");
    for (const std::string& folder : *folders)
        QTest::newRow(QFileInfo(QString::fromStdString(folder)).fileName().toUtf8().constData())
            << QFileInfo(QString::fromStdString(folder)).fileName();
}

/// Every bundled lesson from its first step to its last, by clicks.
void LessonWindowTest::wholeLesson()
{
    QFETCH(QString, id);
    ExampleWindow example;
    QVERIFY(example.ready());
    LessonWindow lesson(example);
    QSignalSpy failed(&lesson.run, &LessonRun::failed);
    QVERIFY(lesson.begin(id));
    const size_t steps = lesson.run.lesson().taught();
    for (size_t i = 0; i < steps; ++i) {
        QCOMPARE(lesson.run.progress().step, i);
        QVERIFY(!lesson.run.shown().text.contains(u'{'));
        QTRY_VERIFY2_WITH_TIMEOUT(lesson.textInReach(), id.toUtf8(), 3000);
        if (lesson.run.step().question)
            QVERIFY2(lesson.answers(lesson.reference()), qPrintable(lesson.run.shown().told));
        QTRY_VERIFY2_WITH_TIMEOUT(lesson.textInReach(), id.toUtf8(), 3000);
        if (i + 1 < steps)
            QVERIFY(lesson.click("lessonNext"));
    }
    QVERIFY(lesson.run.result().complete);
    QCOMPARE(failed.size(), 0);
    QCOMPARE(example.window.errorBar().isVisible(), false);
}

void LessonWindowTest::byKeyboard()
{
    ExampleWindow example;
    QVERIFY(example.ready());
    LessonWindow lesson(example);
    example.window.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&example.window));
    QVERIFY(lesson.begin(QStringLiteral("scale-and-zero-point")));
    const auto type = [&](const QString& text) {
        QWidget* at = QApplication::focusWidget();
        QTest::keyClicks(at, text);
        QTest::keyClick(at, Qt::Key_Return);
    };
    const size_t steps = lesson.run.lesson().taught();
    for (size_t i = 0; i < steps; ++i) {
        const LessonQuestion& question = *lesson.run.step().question;
        if (question.condition) { // by keys in the form of the recipe elsewhere; here the answer is shown
            for (int tabs = 0; tabs < 60 && QApplication::focusWidget() != lesson.button("lessonShow"); ++tabs)
                QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
            QTest::keyClick(QApplication::focusWidget(), Qt::Key_Space);
        } else {
            QTRY_VERIFY(qobject_cast<QLineEdit*>(QApplication::focusWidget()));
            qobject_cast<QLineEdit*>(QApplication::focusWidget())->clear();
            type(QString::fromStdString(lesson.reference().text));
        }
        QVERIFY(lesson.quiet());
        QVERIFY2(lesson.run.shown().answered, qPrintable(lesson.run.shown().told));
        if (i + 1 < steps)
            QTest::keyClick(&example.window, Qt::Key_PageDown, Qt::ControlModifier);
        QVERIFY(lesson.quiet());
    }
    QVERIFY(lesson.run.result().complete);
    for (const QWidget* field : lesson.panel.findChildren<QWidget*>())
        if (field->isVisible() && field->focusPolicy() & Qt::TabFocus && qobject_cast<const QLineEdit*>(field))
            QVERIFY2(!field->accessibleName().isEmpty(), qPrintable(field->objectName()));
}

/// What is disabled while the lesson works leaves the focus to nothing that shows the answer or gives the lesson up.
void LessonWindowTest::focusGivesNothingUp()
{
    ExampleWindow example;
    QVERIFY(example.ready());
    LessonWindow lesson(example);
    example.window.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&example.window));
    QVERIFY(lesson.begin(QStringLiteral("scale-and-zero-point")));
    auto* number = lesson.panel.findChild<QLineEdit*>(QStringLiteral("lessonNumber"));
    QTRY_COMPARE(QApplication::focusWidget(), number);
    QPushButton* hint = lesson.button("lessonHint");
    hint->setFocus();
    QTest::keyClick(hint, Qt::Key_Space);
    QVERIFY(lesson.quiet());
    QTRY_COMPARE(QApplication::focusWidget(), hint);
    QTest::keyClick(hint, Qt::Key_Return);
    QVERIFY(lesson.quiet());
    QTRY_COMPARE(QApplication::focusWidget(), hint);
    QTest::keyClick(hint, Qt::Key_Space);
    QVERIFY(lesson.quiet());
    QCOMPARE(lesson.run.shown().hints.size(), 3);
    QTRY_COMPARE(QApplication::focusWidget(), number); // there are no more
    QTest::keyClicks(number, QStringLiteral("100"));
    QTest::keyClick(number, Qt::Key_Return);
    QVERIFY(lesson.quiet());
    QTRY_COMPARE(number->selectedText(), QStringLiteral("100"));
    QTest::keyClicks(number, QStringLiteral("50"));
    QCOMPARE(number->text(), QStringLiteral("50"));
    lesson.run.goTo(9); // changes of the recipe
    QVERIFY(lesson.quiet());
    QTRY_COMPARE(QApplication::focusWidget(), lesson.panel.findChild<QWidget*>(QStringLiteral("lessonText")));
    lesson.button("lessonNext")->setFocus();
    QTest::keyClick(lesson.button("lessonNext"), Qt::Key_Space);
    QVERIFY(lesson.quiet());
    QVERIFY(!lesson.button("lessonNext")->isEnabled()); // the last step
    QTRY_COMPARE(QApplication::focusWidget(), lesson.panel.findChild<QWidget*>(QStringLiteral("lessonPick")));
}

void LessonWindowTest::startingAgainAsks()
{
    ExampleWindow example;
    QVERIFY(example.ready());
    LessonWindow lesson(example);
    const auto question = [&] { return example.window.findChild<QMessageBox*>(QStringLiteral("startAgainQuestion")); };
    QVERIFY(lesson.begin(QStringLiteral("scale-and-zero-point")));
    lesson.room.startAgain(QStringLiteral("3"));
    QVERIFY(lesson.quiet());
    QVERIFY(!question()); // nothing is lost
    QVERIFY(lesson.answers(lesson.reference()));
    QVERIFY(lesson.click("lessonAgain"));
    QVERIFY(question() && question()->isVisible());
    QTest::keyClick(question(), Qt::Key_Escape);
    QTRY_VERIFY(!question());
    QVERIFY(lesson.run.result().steps.front().right);
    QVERIFY(lesson.click("lessonAgain"));
    for (QAbstractButton* button : question()->buttons())
        if (question()->buttonRole(button) == QMessageBox::AcceptRole)
            button->click();
    QVERIFY(lesson.quiet());
    QVERIFY(!lesson.run.result().steps.front().right);
    QCOMPARE(lesson.run.progress().seed, uint64_t(3));
}

/// Alt and a letter open a menu in a lesson, too.
void LessonWindowTest::keysOfMenusAreFree()
{
    ExampleWindow example;
    QVERIFY(example.ready());
    LessonWindow lesson(example);
    QVERIFY(lesson.begin(QStringLiteral("scale-and-zero-point")));
    QSet<QString> taken;
    for (const QAction* menu : example.window.menuBar()->actions())
        taken.insert(QKeySequence::mnemonic(menu->text()).toString());
    for (const QAbstractButton* button : lesson.panel.findChildren<QAbstractButton*>()) {
        const QString keys = button->shortcut().toString();
        if (keys.isEmpty())
            continue;
        QVERIFY2(!taken.contains(keys), qPrintable(button->text()));
        taken.insert(keys);
    }
}

void LessonWindowTest::changesAreToldInWords()
{
    Recipe setup;
    setup.symmetricActivations = true;
    setup.tensors["a"].parts.front().lowest = -1;
    QVERIFY(changesInWords(setup, setup).isEmpty());
    Recipe now;
    now.tensors["image"].parts.front().highest = 3;
    now.tensors["image"].calibrator.emplace().kind = Calibrator::Percentile;
    now.tensors["image"].calibrator->percentile = 99.9;
    const QStringList words = changesInWords(setup, now);
    QCOMPARE(words.size(), 3);
    QVERIFY2(words[0].endsWith(QStringLiteral(": on → off")), qPrintable(words[0]));
    QCOMPARE(words[1], QStringLiteral("a: lowest no longer set"));
    QCOMPARE(words[2], QStringLiteral("image: highest 3, range by percentile, percentile 99.9"));
}

void LessonWindowTest::wrongAnswersAndHints()
{
    ExampleWindow example;
    QVERIFY(example.ready());
    LessonWindow lesson(example);
    QVERIFY(lesson.begin(QStringLiteral("scale-and-zero-point")));
    QVERIFY(!lesson.button("lessonCheck")->isEnabled());
    QVERIFY(lesson.panel.width() < example.window.width() / 2);
    LessonAnswer wrong;
    wrong.text = "12";
    QVERIFY(!lesson.answers(wrong));
    QVERIFY(lesson.run.shown().told.contains(QStringLiteral("too small")));
    auto* number = lesson.panel.findChild<QLineEdit*>(QStringLiteral("lessonNumber"));
    number->setText(QStringLiteral("many"));
    QVERIFY(lesson.click("lessonCheck"));
    QVERIFY(lesson.run.shown().told.contains(QStringLiteral("many")));
    for (int i = 1; i <= 3; ++i) {
        QVERIFY(lesson.click("lessonHint"));
        QCOMPARE(lesson.run.shown().hints.size(), i);
    }
    QVERIFY(!lesson.button("lessonHint")->isEnabled());
    QVERIFY(lesson.click("lessonShow"));
    QVERIFY(lesson.run.shown().answered && !lesson.run.shown().right);
    const StepResult result = lesson.run.result().steps.front();
    QCOMPARE(result.hints, size_t(3));
    QCOMPARE(QString::fromStdString(result.tries.dump()), QStringLiteral("[\"12\"]"));
    QVERIFY(result.shown && !result.right);
}

/// The recipe of the misconception fails before the learner's eyes, with its number.
void LessonWindowTest::misconceptionIsRun()
{
    ExampleWindow example;
    QVERIFY(example.ready());
    LessonWindow lesson(example);
    QVERIFY(lesson.begin(QStringLiteral("scale-and-zero-point")));
    lesson.run.goTo(9);
    QVERIFY(lesson.quiet());
    lesson.run.setUp(); // it is there already
    QVERIFY(lesson.quiet());
    const RunTree& runs = example.session.runs().tree();
    const RunId before = runs.current();
    lesson.changeRecipe(lesson.run.step().misconceptions.front().recipe);
    QVERIFY(lesson.quiet());
    QVERIFY(runs.current() != before);
    QCOMPARE(runs.find(runs.current())->parent, before); // an edit of the step's own model
    QVERIFY(lesson.panel.findChild<QLabel*>(QStringLiteral("lessonChanges"))->text().contains(QStringLiteral("0.01")));
    QVERIFY(lesson.click("lessonCheck"));
    QVERIFY(!lesson.run.shown().right);
    QVERIFY2(lesson.run.shown().told.contains(QStringLiteral("clipped")), qPrintable(lesson.run.shown().told));
    QVERIFY(example.accuracy() < 0.5);
    QVERIFY(lesson.click("lessonSetUp"));
    QVERIFY(!lesson.run.moved());
    QVERIFY(example.accuracy() > 0.8);
}

void LessonWindowTest::leavingRestoresAll()
{
    ExampleWindow example;
    QVERIFY(example.ready());
    Session& session = example.session;
    Recipe edited = session.recipe().recipe();
    edited.perChannel = !edited.perChannel;
    session.recipe().apply(QStringLiteral("Edit"), edited);
    QVERIFY(example.settled());
    session.selection().selectByName("scores");
    example.window.layoutOfPanels().apply(LayoutName::WhatIf);
    const SnapshotPtr snapshot = session.snapshot();
    const WorkContent content = session.content();
    const Place place = session.selection().current();
    const QString title = example.window.windowTitle();
    const QString layout = example.window.layoutState();
    const int steps = example.stack().index();
    QVERIFY(session.unsaved());
    QVERIFY(example.window.isWindowModified());

    LessonWindow lesson(example);
    QVERIFY(lesson.begin(QStringLiteral("symmetric-or-not")));
    QVERIFY(!session.unsaved());
    QVERIFY(!example.window.isWindowModified());
    QVERIFY(!(session.content() == content));
    lesson.run.goTo(1);
    QVERIFY(lesson.quiet());
    QVERIFY(lesson.click("lessonLeave"));

    QVERIFY(!lesson.run.active());
    QCOMPARE(session.snapshot()->inputs.asked() == snapshot->inputs.asked(), true);
    QCOMPARE(session.snapshot(), snapshot);
    QVERIFY(session.content() == content);
    QVERIFY(session.selection().current() == place);
    QVERIFY(session.unsaved());
    QVERIFY(example.window.isWindowModified());
    QCOMPARE(example.window.windowTitle(), title);
    QCOMPARE(example.stack().index(), steps);
    QVERIFY(example.window.namedLayouts().choice() == LayoutChoice(LayoutName::WhatIf));
    QCOMPARE(example.window.layoutState().section(u';', 1), layout.section(u';', 1));
    QVERIFY(example.window.findChild<QWidget*>(QStringLiteral("what-if"))->isVisible());
    QVERIFY(!lesson.panel.isVisible());
    example.stack().undo();
    QVERIFY(example.settled());
    QVERIFY(!(session.recipe().recipe() == edited));
}

void LessonWindowTest::leavingToTheStartPage()
{
    Session session(realBuild());
    MainWindow window(session, ThemeChoice::Light, WindowMemory::Fresh);
    window.resize(1280, 800);
    window.show();
    auto* start = window.findChild<QWidget*>(QStringLiteral("startPage"));
    QVERIFY(start->isVisible());
    LessonWindow lesson(window, session);
    QPushButton* first = nullptr;
    for (QPushButton* button : start->findChildren<QPushButton*>())
        if (button->text().startsWith(QStringLiteral("1. Scale and zero")))
            first = button;
    QVERIFY(first);
    QTest::keyClick(first, Qt::Key_Return);
    QVERIFY(lesson.run.active() && lesson.quiet());
    QVERIFY(lesson.panel.isVisible());
    QVERIFY(window.windowTitle().startsWith(QStringLiteral("Scale and zero point")));
    lesson.room.leave();
    QVERIFY(start->isVisible());
    QVERIFY(!lesson.panel.isVisible());
    QVERIFY(session.files().floatPath.empty());
    QCOMPARE(window.windowTitle(), QStringLiteral("Quantscope"));
}

void LessonWindowTest::setupIsUndoable()
{
    ExampleWindow example;
    QVERIFY(example.ready());
    LessonWindow lesson(example);
    QVERIFY(lesson.begin(QStringLiteral("scale-and-zero-point")));
    lesson.run.goTo(1);
    QVERIFY(lesson.quiet());
    const Recipe before = example.session.recipe().recipe();
    lesson.run.goTo(8);
    QVERIFY(lesson.quiet());
    QVERIFY(!(example.session.recipe().recipe() == before));
    example.stack().undo();
    QVERIFY(lesson.quiet());
    QVERIFY(example.session.recipe().recipe() == before);
    QVERIFY(lesson.button("lessonSetUp")->isVisible());
}

/// What was picked stays while rows are selected to mend the file; what is selected then is offered.
void LessonWindowTest::picksStay()
{
    ExampleWindow example;
    QVERIFY(example.ready());
    LessonWindow lesson(example);
    QVERIFY(lesson.begin(QStringLiteral("fewer-bits")));
    lesson.run.goTo(9);
    QVERIFY(lesson.quiet());
    auto* pick = lesson.panel.findChild<QLineEdit*>(QStringLiteral("lessonPick"));
    auto* take = lesson.panel.findChild<QPushButton*>(QStringLiteral("lessonTake"));
    QVERIFY(pick && take);
    QCOMPARE(pick->text(), QString()); // nothing is suggested
    const auto& weights = example.session.comparison()->weights;
    const QString first = toQt(weights[0].name), second = toQt(weights[1].name);
    example.session.selection().selectWeight(0);
    QCOMPARE(pick->text(), first);
    example.session.selection().selectWeight(1);
    QCOMPARE(pick->text(), second);
    QVERIFY(!take->isVisibleTo(&lesson.panel));
    Recipe next = example.session.recipe().recipe();
    next.weightOnly.nodes.clear();
    example.session.recipe().apply(QStringLiteral("mend"), next);
    QVERIFY(lesson.quiet());
    example.session.selection().selectWeight(0);
    QCOMPARE(pick->text(), second);
    QVERIFY(take->isVisibleTo(&lesson.panel) && take->text().contains(first));
    take->click();
    QCOMPARE(pick->text(), first);
    // Enter gives the chosen answer.
    lesson.choose("1");
    auto* choice = lesson.panel.findChild<QRadioButton*>(QStringLiteral("lessonChoice1"));
    QVERIFY(lesson.button("lessonCheck")->isEnabled());
    QVERIFY(lesson.run.shown().told.isEmpty());
    QTest::keyClick(choice, Qt::Key_Return);
    QVERIFY(lesson.quiet());
    QVERIFY(!lesson.run.shown().told.isEmpty());
}

void LessonWindowTest::resumes()
{
    ExampleWindow example;
    QVERIFY(example.ready());
    LessonWindow lesson(example);
    QVERIFY(lesson.begin(QStringLiteral("scale-and-zero-point")));
    lesson.room.startAgain(QStringLiteral("7"));
    QVERIFY(lesson.quiet());
    QVERIFY(lesson.answers(lesson.reference()));
    QVERIFY(lesson.click("lessonNext"));
    const LessonProgress kept = lesson.run.progress();
    keepProgress(QStringLiteral("a-test"), kept);
    const auto read = readProgress(QStringLiteral("a-test"));
    QVERIFY(read.has_value());
    QCOMPARE(read->seed, uint64_t(7));
    QCOMPARE(read->step, size_t(1));
    QCOMPARE(read->done.size(), size_t(1));
    QCOMPARE(read->answers.at(0).tries.dump(), kept.answers.at(0).tries.dump());
    QVERIFY(lesson.click("lessonLeave"));
    QVERIFY(lesson.begin(QStringLiteral("scale-and-zero-point")));
    QCOMPARE(lesson.run.progress().step, size_t(1));
    QCOMPARE(lesson.panel.findChild<QLineEdit*>(QStringLiteral("lessonSeed"))->text(), QStringLiteral("7"));
    QVERIFY(lesson.panel.findChild<QListWidget*>(QStringLiteral("lessonSteps"))->item(0)->text().startsWith(u'✓'));
    QSettings().setValue(QStringLiteral("lessons/a-test"), QStringLiteral("{\"seed\":\"x\"}"));
    QVERIFY(!readProgress(QStringLiteral("a-test")).has_value());
}

/// The same answers, judged without a window, have the same results.
void LessonWindowTest::resultsAreThoseOfTheAnswers()
{
    ExampleWindow example;
    QVERIFY(example.ready());
    LessonWindow lesson(example);
    QVERIFY(lesson.begin(QStringLiteral("rounding-against-clipping")));
    LessonResult expected;
    for (size_t i = 0; i < lesson.run.lesson().taught(); ++i) {
        if (lesson.run.step().question) {
            const LessonAnswer answer = lesson.reference();
            QVERIFY2(lesson.answers(answer), qPrintable(lesson.run.shown().told));
            StepResult step;
            step.step = lesson.run.step().id;
            step.right = true;
            step.tries = lesson.run.result().steps.back().tries;
            auto live = LiveStep::make(lesson.run.lesson(), i, lesson.snapshots);
            LessonAnswer again = answer;
            const LessonJson& tried = step.tries.front();
            const LessonJson& last = tried.is_array() ? tried.back() : tried;
            const auto text = last.get<std::string>();
            if (lesson.run.step().question->condition)
                again.recipe = recipeChanges(text).value();
            else
                again.text = text;
            QVERIFY(judge(*live, again, lesson.snapshots)->right); // what the results hold is an answer of the terminal
            expected.steps.push_back(step);
        }
        if (i + 1 < lesson.run.lesson().taught())
            QVERIFY(lesson.click("lessonNext"));
    }
    expected.complete = true;
    LessonResult result = lesson.run.result();
    result.seconds = 0;
    QCOMPARE(resultJson(lesson.run.lesson(), result).dump(), resultJson(lesson.run.lesson(), expected).dump());
}

void LessonWindowTest::hostileFolders()
{
    QTemporaryDir dir;
    const auto write = [&](const QString& folder, const char* name, const QByteArray& text) {
        QDir(dir.path()).mkpath(folder);
        QFile file(dir.filePath(folder + u'/' + QLatin1String(name)));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(text);
    };
    write(QStringLiteral("no-json"), "lesson.json", "{");
    write(QStringLiteral("no-json"), "lesson.md", "# a");
    write(QStringLiteral("deep"), "lesson.json", QByteArray(100'000, '['));
    write(QStringLiteral("deep"), "lesson.md", "# a");
    write(QStringLiteral("alone"), "lesson.json", "{}");
    write(QStringLiteral("html"), "lesson.json",
        R"({"schema_version":1,"id":"html","title":"t","minutes":1,"models":{},"steps":[{"id":"a"}]})");
    write(QStringLiteral("html"), "lesson.md", "# t\n\n## a\n\n<script>alert(1)</script>");
    ExampleWindow example;
    QVERIFY(example.ready());
    LessonWindow lesson(example);
    lesson.room.openFolder(dir.path());
    QCOMPARE(lesson.room.lessons().size(), size_t(4));
    for (const LessonEntry& entry : lesson.room.lessons()) {
        QVERIFY2(!entry.problem.isEmpty() && !entry.problem.contains(u'\n'), qPrintable(entry.folder));
        lesson.room.begin(entry.folder);
        QVERIFY(!lesson.run.active());
        QVERIFY(example.window.errorBar().isVisible());
    }
    lesson.room.openFolder(dir.filePath(QStringLiteral("nowhere")));
    QVERIFY(example.window.errorBar().isVisible());
    QVERIFY(!example.session.guest());
    QVERIFY(example.session.comparison());
}

void LessonWindowTest::presentation()
{
    ExampleWindow example;
    QVERIFY(example.ready());
    LessonWindow lesson(example);
    QVERIFY(lesson.begin(QStringLiteral("scale-and-zero-point")));
    auto* text = lesson.panel.findChild<QTextBrowser*>(QStringLiteral("lessonText"));
    const double size = text->font().pointSizeF();
    lesson.room.setPresenting(true);
    QVERIFY(text->font().pointSizeF() > 1.3 * size);
    QVERIFY(!example.window.menuBar()->isVisible());
    QTest::keyClick(&example.window, Qt::Key_PageDown);
    QVERIFY(lesson.quiet());
    QCOMPARE(lesson.run.progress().step, size_t(1));
    QTest::keyClick(&example.window, Qt::Key_F11);
    QVERIFY(!lesson.room.presenting());
    QVERIFY(example.window.menuBar()->isVisible());
    lesson.room.setTextSize(2);
    QVERIFY(text->font().pointSizeF() > 1.5 * size);
}

void LessonWindowTest::papers()
{
    ExampleWindow example;
    QVERIFY(example.ready());
    LessonWindow lesson(example);
    QVERIFY(lesson.begin(QStringLiteral("one-neuron-in-integers")));
    QTemporaryDir dir;
    const std::string handout = dir.filePath(QStringLiteral("a.pdf")).toStdString();
    bool done = false;
    lesson.run.print(true, [&](const std::vector<PrintedStep>& steps) {
        QCOMPARE(steps.size(), lesson.run.lesson().taught());
        for (const PrintedStep& step : steps)
            QVERIFY(!step.text.contains(QStringLiteral("{=")) && step.snapshot);
        done = writeLessonPdf(handout, lesson.run.lesson(), steps, true).ok();
    });
    QTRY_VERIFY_WITH_TIMEOUT(done, kPatience);
    const std::string results = dir.filePath(QStringLiteral("b.pdf")).toStdString();
    QVERIFY(writeResultPdf(results, lesson.run.lesson(), lesson.run.result()).ok());
    for (const QString& name : { QStringLiteral("a.pdf"), QStringLiteral("b.pdf") }) {
        QFile file(dir.filePath(name));
        QVERIFY(file.open(QIODevice::ReadOnly));
        QVERIFY(file.readAll().startsWith("%PDF-"));
    }
    QVERIFY(
        writeResultJson(dir.filePath(QStringLiteral("c.json")).toStdString(), lesson.run.lesson(), lesson.run.result())
            .ok());
}

} // namespace qs::test

QTEST_MAIN(qs::test::LessonWindowTest)
#include "test_lesson_window.moc"
