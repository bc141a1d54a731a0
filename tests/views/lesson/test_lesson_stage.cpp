// SPDX-License-Identifier: GPL-3.0-or-later
// What a lesson does with what was open before it, and with the panels that show an answer.
#include "tests/views/lesson/lesson_window.h"

#include "core/analysis/findings/rule.h"
#include "core/lesson/file/panel_names.h"
#include "core/lesson/file/read_lesson.h"
#include "widgets/models/base/formatting.h"
#include "widgets/session/export/exports.h"
#include "widgets/session/files/autosave.h"
#include "widgets/session/files/open_work.h"
#include "widgets/session/files/projects.h"
#include "widgets/session/lesson/lesson_topics.h"
#include "widgets/views/base/table_panel.h"
#include "widgets/views/lesson/lesson_charts.h"
#include "widgets/views/lesson/lesson_paper.h"
#include "widgets/views/lesson/lesson_text.h"
#include "widgets/views/lesson/offered_lesson.h"
#include "widgets/views/recipe/override_editor.h"
#include "widgets/views/window/docks/arrangement.h"

#include <QFile>
#include <QFileInfo>
#include <QImage>
#include <QScrollBar>
#include <QSettings>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <QTextBrowser>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace qs::test {

class LessonStageTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase();
    void yourModels();
    void yourModelsAreOpenedLater();
    void hiddenPanels();
    void panelsHaveTheirNames();
    void restoringLeavesTheLesson();
    void handoutsHaveCharts();
    void textSettles();
    void drawingsOnDarkPages();
    void choicesFitTheirWidth();
    void whatIsSetAsideIsNotReplaced();
    void stepsStartAfresh();
    void stepsFillTheirPanel();
    void runsTellNoEarlierStep();
    void answersAreOneSentence();
    void questionsAreInSight();
    void learnThis();

private:
    QTemporaryDir m_settings;
};

void LessonStageTest::initTestCase() { keepSettingsIn(m_settings, QStringLiteral("quantscope-test-lesson-stage")); }

/// The last part is about what was open, which comes back as it was.
void LessonStageTest::yourModels()
{
    ExampleWindow example;
    QVERIFY(example.ready());
    Session& session = example.session;
    Recipe edited = session.recipe().recipe();
    edited.perChannel = !edited.perChannel;
    session.recipe().apply(QStringLiteral("Edit"), edited);
    QVERIFY(example.settled());
    const SnapshotPtr snapshot = session.snapshot();
    const WorkContent content = session.content();
    LessonWindow lesson(example);
    QVERIFY(lesson.begin(QStringLiteral("made-here-or-inherited")));
    const size_t taught = lesson.run.lesson().taught();
    QCOMPARE(lesson.run.lesson().steps.size(), taught + 2);
    auto* steps = lesson.panel.findChild<QListWidget*>(QStringLiteral("lessonSteps"));
    QVERIFY(steps->item(int(taught))->text().contains(QStringLiteral("Your models: Made in yours")));
    lesson.run.goTo(taught);
    QVERIFY(lesson.quiet());
    QVERIFY(lesson.panel.findChild<QTextBrowser*>(QStringLiteral("lessonText"))
                ->toPlainText()
                .contains(QStringLiteral("digits_float.onnx")));
    QVERIFY(session.snapshot() != snapshot);
    QVERIFY(session.snapshot()->inputs.asked() == snapshot->inputs.asked()); // a copy of it
    const LessonAnswer right = lesson.reference();
    LessonAnswer wrong;
    wrong.text = right.text == "image" ? "scores" : "image";
    QVERIFY(!lesson.answers(wrong));
    QVERIFY2(lesson.answers(right), qPrintable(lesson.run.shown().told));
    QVERIFY(lesson.click("lessonNext"));
    QVERIFY2(lesson.answers(lesson.reference()), qPrintable(lesson.run.shown().told));
    const LessonResult result = lesson.run.result();
    QVERIFY(!result.complete && result.yours.size() == 2 && result.yours.front().right);
    QCOMPARE(lesson.room.stateText(lesson.room.lessons()[7]).contains(QStringLiteral("2 of")), false);
    QVERIFY(lesson.click("lessonLeave"));
    QCOMPARE(session.snapshot(), snapshot);
    QVERIFY(session.content() == content);
    QVERIFY(session.recipe().recipe() == edited);
}

void LessonStageTest::yourModelsAreOpenedLater()
{
    Session session(realBuild());
    MainWindow window(session, ThemeChoice::Light, WindowMemory::Fresh);
    window.resize(1280, 800);
    window.show();
    LessonWindow lesson(window, session);
    QVERIFY(lesson.begin(QStringLiteral("what-to-leave-in-float")));
    lesson.run.goTo(lesson.run.lesson().taught());
    QVERIFY(lesson.quiet());
    QVERIFY(lesson.run.shown().skipped.startsWith(QStringLiteral("No models of your own are open")));
    QVERIFY(!lesson.button("lessonCheck")->isVisible());
    const auto* steps = lesson.panel.findChild<QListWidget*>(QStringLiteral("lessonSteps"));
    const auto ticked = [&] { return steps->item(int(lesson.run.lesson().taught()))->text().startsWith(u'✓'); };
    QVERIFY(!ticked()); // nothing was asked
    QVERIFY(lesson.panel.findChild<QTextBrowser*>(QStringLiteral("lessonText"))
                ->toPlainText()
                .contains(QStringLiteral("Open them now")));
    Inputs own;
    own.floatPath = QS_SOURCE_DIR "/resources/examples/digits_float.onnx";
    own.data.spec = QS_SOURCE_DIR "/resources/examples/digits_samples.npz";
    own.data.limit = 20;
    session.openInputs(own);
    QTRY_VERIFY_WITH_TIMEOUT(lesson.run.lesson().own.has_value(), kPatience);
    QVERIFY(lesson.quiet());
    QVERIFY2(lesson.run.question(), qPrintable(lesson.run.shown().skipped));
    QVERIFY2(lesson.answers(lesson.reference()), qPrintable(lesson.run.shown().told));
    QVERIFY(ticked());
    QVERIFY(lesson.click("lessonLeave"));
    QVERIFY(session.files().floatPath.empty());
}

/// The Inspector would say the scale that is asked for; that of the step before is another one.
void LessonStageTest::hiddenPanels()
{
    ExampleWindow example;
    QVERIFY(example.ready());
    LessonWindow lesson(example);
    QVERIFY(lesson.begin(QStringLiteral("scale-and-zero-point")));
    const auto isThere = [&](const char* panel) {
        const auto* found = example.window.findChild<QWidget*>(QLatin1String(panel));
        return found && found->isVisible();
    };
    QVERIFY(isThere("inspector") && isThere("tensors"));
    const auto* image = example.session.activationAt(example.session.selection().current());
    QVERIFY(image && image->name == "image");
    const double scale = image->params.scale.front();
    QVERIFY(lesson.click("lessonNext"));
    image = example.session.activationAt(example.session.selection().current());
    QVERIFY(image && image->params.scale.front() != scale);
    QVERIFY(!isThere("inspector") && !isThere("tensors") && isThere("distribution") && isThere("lesson"));
    QVERIFY(isThere("graphCover")); // it has scales at its edges
    const auto why = [&] { return example.window.findChild<QLabel*>(QStringLiteral("graphCover"))->text(); };
    QVERIFY(why().contains(QStringLiteral("this step")));
    LessonAnswer wrong;
    wrong.text = "12";
    QVERIFY(!lesson.answers(wrong));
    QVERIFY(!isThere("inspector"));
    lesson.panel.findChild<QLineEdit*>(QStringLiteral("lessonNumber"))->clear();
    QVERIFY2(lesson.answers(lesson.reference()), qPrintable(lesson.run.shown().told));
    QVERIFY(!isThere("inspector") && isThere("graphCover")); // the next answer stands there, too
    QVERIFY2(why().contains(QStringLiteral("the next step")), qPrintable(why()));
    QVERIFY(lesson.click("lessonNext"));
    QVERIFY(!isThere("inspector") && isThere("graphCover"));
    QVERIFY(why().contains(QStringLiteral("this step")));
    QVERIFY(lesson.click("lessonShow"));
    QVERIFY(isThere("inspector") && isThere("tensors") && isThere("lesson") && !isThere("graphCover"));
    lesson.run.goTo(1);
    QVERIFY(lesson.quiet() && isThere("graphCover"));
    QVERIFY(lesson.click("lessonLeave"));
    QVERIFY(!isThere("graphCover"));
}

/// Lesson files are checked without a window, by a list of their own.
void LessonStageTest::panelsHaveTheirNames()
{
    QStringList names;
    for (const std::string_view name : kPanelNames)
        names << QString::fromUtf8(name.data(), qsizetype(name.size()));
    names << QStringLiteral("lesson");
    QCOMPARE(names, MainWindow::viewNames());
    const std::vector<std::string> all(kPanelNames.begin(), kPanelNames.end());
    const Arrangement nothing = teachArrangementWith({ "tensors" }, all, 60);
    QVERIFY(nothing.right.size() == 1 && nothing.bottom.size() == 1 && nothing.left.size() == 1);
    const Arrangement some = teachArrangementWith({ "inspector" }, { "findings" }, 60);
    QVERIFY(std::ranges::find(some.left[0], std::string_view("findings")) == some.left[0].end());
    QVERIFY(std::ranges::find(some.left[0], std::string_view("what-if")) != some.left[0].end());
}

/// Work that a crash left is not restored into the lesson, with which it would go.
void LessonStageTest::restoringLeavesTheLesson()
{
    QTemporaryDir folder;
    QString kept;
    {
        ExampleWindow example;
        QVERIFY(example.ready());
        Project project = projectOf(example.session);
        project.inputs.recipe = Recipe();
        project.inputs.recipe->calibration.percentile = 91;
        project.recovery = Recovery {};
        kept = folder.filePath(QStringLiteral("a.qscope"));
        QVERIFY(writeProject(project, kept.toStdString()).ok());
    }
    ExampleWindow example;
    QVERIFY(example.ready());
    Autosave autosave(example.session, folder.path());
    LessonWindow lesson(example);
    example.window.offerRecovery({ kept });
    QVERIFY(lesson.begin(QStringLiteral("scale-and-zero-point")));
    auto* bar = example.window.findChild<QWidget*>(QStringLiteral("recoveryBar"));
    QPushButton* restore = nullptr;
    for (QPushButton* button : bar->findChildren<QPushButton*>())
        if (button->text() == QStringLiteral("Restore"))
            restore = button;
    QVERIFY(restore && restore->isVisible());
    QSignalSpy recovered(&example.session, &Session::recovered);
    QTest::mouseClick(restore, Qt::LeftButton);
    QVERIFY(!lesson.run.active());
    QTRY_COMPARE_WITH_TIMEOUT(recovered.size(), 1, kPatience);
    QCOMPARE(example.session.recipe().recipe().calibration.percentile, 91.0);
    QVERIFY(example.session.unsaved());
    QCOMPARE(autosave.path(), kept);
    example.session.forgetUnsaved();
}

/// Of the panels of each step, once, drawn with lines and letters.
void LessonStageTest::handoutsHaveCharts()
{
    ExampleWindow example;
    QVERIFY(example.ready());
    LessonWindow lesson(example);
    QVERIFY(lesson.begin(QStringLiteral("scale-and-zero-point")));
    std::vector<PrintedStep> printed;
    lesson.run.print(false, [&](const std::vector<PrintedStep>& steps) { printed = steps; });
    QTRY_VERIFY_WITH_TIMEOUT(!printed.empty(), kPatience);
    LessonCharts charts;
    const auto& steps = lesson.run.lesson().steps;
    const auto first = charts.of(printed[0].snapshot, steps[0], true);
    QCOMPARE(first.size(), size_t(1));
    QVERIFY(first[0].caption.startsWith(QStringLiteral("Values of image")));
    QVERIFY(first[0].vectors.size() > 1000);
    QCOMPARE(charts.of(printed[1].snapshot, steps[1], true).size(), size_t(1)); // with a range of its own
    QVERIFY(charts.of(printed[2].snapshot, steps[2], true).empty()); // it has the same
    LessonStep hides = steps[0];
    hides.hide = { "distribution" };
    QVERIFY(LessonCharts().of(printed[0].snapshot, hides, true).empty());
    QCOMPARE(LessonCharts().of(printed[0].snapshot, hides, false).size(), size_t(1));
    const QString path = m_settings.filePath(QStringLiteral("a.pdf"));
    QVERIFY(writeLessonPdf(path.toStdString(), lesson.run.lesson(), printed, false).ok());
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QByteArray bytes = file.readAll();
    QVERIFY(bytes.startsWith("%PDF-") && !bytes.contains("/Subtype /Image"));
}

namespace {

/// Counts what a widget asks itself to do later, and lets no more of it through than `kMost`.
class Counter : public QObject {
public:
    static constexpr int kMost = 300;
    int calls = 0;

protected:
    bool eventFilter(QObject*, QEvent* event) override { return event->type() == QEvent::MetaCall && ++calls > kMost; }
};

} // namespace

/// Whatever size it gets, the text is measured and stays, with a bar only while it is too low.
void LessonStageTest::textSettles()
{
    const QString folder = QStringLiteral(QS_SOURCE_DIR "/resources/lessons/saturation");
    QFile file(folder + QStringLiteral("/lesson.md"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QString markdown = QString::fromUtf8(file.readAll());
    QWidget room;
    auto* column = new QVBoxLayout(&room);
    auto* text = new LessonText(&room);
    column->addWidget(text, 100);
    column->addStretch(1);
    Counter counter;
    text->installEventFilter(&counter);
    room.show();
    const auto bar = [&] { return text->verticalScrollBar()->isVisible(); };
    for (const int part : { 200, 500, 900, 2000, 8000 }) { // long texts are laid out in steps
        text->showText(markdown.left(part), folder);
        for (int width = 180; width < 520; width += 7)
            for (const QSize size : { QSize(width, 80), QSize(width, 20000), QSize(width + 1, 20000) }) {
                room.resize(size);
                counter.calls = 0;
                QCoreApplication::processEvents();
                const QByteArray what
                    = QStringLiteral("%1 x %2, %3 letters").arg(size.width()).arg(size.height()).arg(part).toUtf8();
                QVERIFY2(counter.calls < Counter::kMost, what);
                QTRY_VERIFY2_WITH_TIMEOUT(bar() == (text->height() < text->maximumHeight()),
                    what + " " + QByteArray::number(text->height()) + " of "
                        + QByteArray::number(text->maximumHeight()),
                    2000);
                QTRY_VERIFY2_WITH_TIMEOUT(bar() || text->document()->size().height() <= text->height(), what, 2000);
            }
    }
}

/// A drawing for white paper is one for a dark page, too: what was dark is light, and its hues are the same.
void LessonStageTest::drawingsOnDarkPages()
{
    const QString folder = QStringLiteral(QS_SOURCE_DIR "/resources/lessons/calibration");
    const QUrl name(QStringLiteral("histogram.svg"));
    const auto paper = lessonPicture(folder, name, {}, PageShade::Paper).value<QImage>();
    const auto dark = lessonPicture(folder, name, {}, PageShade::Dark).value<QImage>();
    QCOMPARE(dark.size(), paper.size());
    int marks = 0;
    for (int y = 0; y < paper.height(); ++y)
        for (int x = 0; x < paper.width(); ++x) {
            const QColor before = paper.pixelColor(x, y), after = dark.pixelColor(x, y);
            QVERIFY(std::abs(after.alpha() - before.alpha()) <= 8); // Qt draws letters a shade apart, the second time
            if (before.alpha() < 255)
                continue;
            ++marks;
            QVERIFY(std::abs(after.lightness() + before.lightness() - 255) <= 2);
            if (before.hslSaturation() > 60)
                QVERIFY(std::abs(after.hslHue() - before.hslHue()) <= 3);
        }
    QVERIFY(marks > 1000);
    QCOMPARE(paper.pixelColor(0, 0).alpha(), 0); // the page shows through
}

/// Each lesson is as high as its title and what stands below it, at any width, and nothing is scrolled sideways.
void LessonStageTest::choicesFitTheirWidth()
{
    QListWidget list;
    list.setItemDelegate(new OfferedLesson(&list));
    list.setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* item = new QListWidgetItem(QStringLiteral("Range: rounding against clipping, and how much of each"), &list);
    item->setData(OfferedLesson::StateRole, QStringLiteral("15 minutes, 3 of 10 steps done"));
    list.resize(600, 300);
    list.show();
    QVERIFY(QTest::qWaitForWindowExposed(&list));
    const int wide = list.sizeHintForRow(0), line = list.fontMetrics().lineSpacing();
    QVERIFY2(wide >= 2 * line && wide < 4 * line, QByteArray::number(wide));
    list.resize(140, 300);
    QCoreApplication::processEvents();
    QVERIFY2(list.sizeHintForRow(0) >= wide + line, QByteArray::number(list.sizeHintForRow(0)));
}

/// What an export during a lesson would take the place of comes back with the end of the lesson.
void LessonStageTest::whatIsSetAsideIsNotReplaced()
{
    QTemporaryDir folder;
    Inputs inputs = bundledExample();
    const QString model = folder.filePath(QStringLiteral("float.onnx")),
                  data = folder.filePath(QStringLiteral("s.npz"));
    QVERIFY(QFile::copy(toQt(inputs.floatPath), model) && QFile::copy(toQt(inputs.data.spec), data));
    inputs.floatPath = model.toStdString();
    inputs.data.spec = data.toStdString();
    ExampleWindow example(realBuild(), inputs);
    QVERIFY(example.ready());
    Session& session = example.session;
    const QString project = folder.filePath(QStringLiteral("work.qscope"));
    QSignalSpy saved(&session, &Session::projectSaved);
    saveProject(session, project, {});
    QVERIFY(saved.wait(kPatience));
    LessonWindow lesson(example);
    QVERIFY(lesson.begin(QStringLiteral("scale-and-zero-point")));
    const OpenWork open(session);
    for (const QString& path : { model, data, project })
        QVERIFY2(!open.mayWrite(path).ok(), qPrintable(path));
    QVERIFY(open.mayWrite(folder.filePath(QStringLiteral("new.html"))).ok());
    QVERIFY(!open.maySave(project).ok());
    QSignalSpy failed(&session, &Session::failed);
    exportReport(session, data);
    QVERIFY(failed.wait(kPatience));
    QVERIFY(QFileInfo(data).size() == QFileInfo(toQt(bundledExample().data.spec)).size());
    QVERIFY(lesson.click("lessonLeave"));
    QVERIFY(OpenWork(session).maySave(project).ok());
}

/// Nothing of what was typed and not applied, and tables at their first rows.
void LessonStageTest::stepsStartAfresh()
{
    ExampleWindow example;
    QVERIFY(example.ready());
    example.window.resize(1280, 800);
    LessonWindow lesson(example);
    QVERIFY(lesson.begin(QStringLiteral("calibration")));
    QVERIFY(lesson.click("lessonNext"));
    auto* editor = example.window.findChild<OverrideEditor*>();
    QToolButton* more = nullptr;
    for (QToolButton* button : editor->findChildren<QToolButton*>())
        if (button->accessibleName() == QStringLiteral("Override"))
            more = button;
    QVERIFY(more && more->isVisible());
    more->setChecked(true);
    QLineEdit* lowest = nullptr;
    for (QLineEdit* field : editor->findChildren<QLineEdit*>())
        if (field->accessibleName() == QStringLiteral("lowest"))
            lowest = field;
    QVERIFY(lowest && lowest->isVisible());
    QTest::keyClicks(lowest, QStringLiteral("0.5"));
    QVERIFY(lesson.click("lessonNext")); // the tensor is the same
    QVERIFY(!more->isChecked() && !lowest->isVisible());
    more->setChecked(true);
    QVERIFY(lowest->text().isEmpty());
    const auto tensors = [&] { return example.window.findChild<TablePanel*>(QStringLiteral("tensors"))->table(); };
    lesson.run.goTo(4);
    QVERIFY(lesson.quiet());
    example.window.showView(QStringLiteral("tensors"));
    example.session.selection().selectByName("image");
    QTRY_VERIFY(tensors()->isVisible());
    tensors()->verticalScrollBar()->setValue(tensors()->verticalScrollBar()->maximum());
    QVERIFY(tensors()->verticalScrollBar()->value() > 0);
    QVERIFY(lesson.click("lessonNext")); // asks for the lowest
    QTRY_VERIFY(tensors()->isVisible());
    QCOMPARE(tensors()->verticalScrollBar()->value(), 0);
}

/// As soon as the panel has its height.
void LessonStageTest::stepsFillTheirPanel()
{
    ExampleWindow example;
    QVERIFY(example.ready());
    example.window.resize(1600, 1300);
    LessonWindow lesson(example);
    QVERIFY(lesson.begin(QStringLiteral("saturation")));
    auto* steps = lesson.panel.findChild<QListWidget*>(QStringLiteral("lessonSteps"));
    QTRY_VERIFY2(steps->height() >= 10 * steps->sizeHintForRow(0), QByteArray::number(steps->height()));
    example.window.resize(1280, 700);
    QTRY_VERIFY2(steps->height() < 6 * steps->sizeHintForRow(0), QByteArray::number(steps->height()));
}

/// The last step of this lesson has the recipe of an earlier one.
void LessonStageTest::runsTellNoEarlierStep()
{
    ExampleWindow example;
    QVERIFY(example.ready());
    LessonWindow lesson(example);
    QVERIFY(lesson.begin(QStringLiteral("scale-and-zero-point")));
    for (const size_t step : { size_t(1), size_t(8), size_t(9) }) {
        lesson.run.goTo(step);
        QVERIFY(lesson.quiet());
        const RunTree& runs = example.session.runs().tree();
        QCOMPARE(runs.find(runs.current())->name, "Lesson: " + lesson.run.step().title);
    }
}

/// With one full stop at its end.
void LessonStageTest::answersAreOneSentence()
{
    ExampleWindow example;
    QVERIFY(example.ready());
    LessonWindow lesson(example);
    QVERIFY(lesson.begin(QStringLiteral("made-here-or-inherited")));
    for (size_t step = 0; step < lesson.run.lesson().taught(); ++step) {
        lesson.run.goTo(step);
        QVERIFY(lesson.quiet());
        QVERIFY(lesson.click("lessonShow"));
        const QString told = lesson.run.shown().told;
        QVERIFY2(told.endsWith(u'.') && !told.endsWith(QStringLiteral("..")), qPrintable(told));
        QVERIFY2(!told.contains(QStringLiteral(".;")), qPrintable(told));
    }
}

/// On a small screen a lesson begins with its question in sight, introduction and all.
void LessonStageTest::questionsAreInSight()
{
    Session session(realBuild());
    MainWindow window(session, ThemeChoice::Light, WindowMemory::Fresh);
    window.resize(1280, 772); // of 800 the frame takes some
    window.show();
    LessonWindow lesson(window, session);
    const auto* text = lesson.panel.findChild<LessonText*>();
    for (const LessonEntry& entry : window.lessons().lessons()) {
        QVERIFY(lesson.begin(entry.id));
        const auto below = [&] { return text->document()->size().height() - text->viewport()->height(); };
        QTRY_VERIFY2_WITH_TIMEOUT(
            below() <= 4, qPrintable(QStringLiteral("%1: %2 pixels").arg(entry.id).arg(below())), 3000);
        lesson.room.leave();
    }
}

/// What lessons teach are panels, numbers and findings that there are, and asking for one opens its step.
void LessonStageTest::learnThis()
{
    ExampleWindow example;
    QVERIFY(example.ready());
    LessonWindow lesson(example);
    QStringList known = MainWindow::viewNames();
    for (const Metric metric : kMetrics)
        known << topicOf(metric);
    for (int rule = 0; rule <= int(Rule::Unmatched); ++rule)
        known << toQt(ruleId(Rule(rule)));
    const auto& spots = example.session.findChild<LessonTopics*>()->spots();
    QVERIFY(spots.size() > 15);
    for (auto spot = spots.begin(); spot != spots.end(); ++spot) {
        QVERIFY2(known.contains(spot.key()), qPrintable(spot.key()));
        const auto read = readLesson(spot->folder.toStdString(), QS_SOURCE_DIR "/resources/examples", 1);
        QVERIFY(read.ok() && spot->step < read->taught());
        const auto& teaches = read->steps[spot->step].teaches;
        QVERIFY2(std::ranges::find(teaches, spot.key().toStdString()) != teaches.end(), qPrintable(spot.key()));
    }
    QPushButton* learn = nullptr;
    for (QPushButton* button : example.window.findChildren<QPushButton*>())
        if (button->text() == QStringLiteral("Explain") && button->isVisible())
            button->click();
    for (QPushButton* button : example.window.findChildren<QPushButton*>())
        if (button->text() == QStringLiteral("Learn this") && button->isVisible())
            learn = learn ? learn : button;
    QVERIFY(learn); // the example's ranges do not hold its data
    learn->click();
    QTRY_VERIFY(lesson.run.active());
    QVERIFY(lesson.quiet());
    lesson.room.leave();
    example.window.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&example.window));
    example.window.showView(QStringLiteral("channels"));
    QTest::keyClick(&example.window, Qt::Key_F1, Qt::ShiftModifier);
    QTRY_VERIFY(lesson.run.active());
    QVERIFY(lesson.quiet());
    QCOMPARE(toQt(lesson.run.lesson().id), QStringLiteral("one-channel-spoils-a-layer"));
    QCOMPARE(toQt(lesson.run.step().id), QStringLiteral("name-the-channel"));
}

} // namespace qs::test

QTEST_MAIN(qs::test::LessonStageTest)
#include "test_lesson_stage.moc"
