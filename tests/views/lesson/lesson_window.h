// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/lesson/check/judge.h"
#include "tests/views/support/example_window.h"
#include "widgets/views/lesson/lesson_panel.h"
#include "widgets/views/lesson/lesson_room.h"
#include "widgets/views/lesson/lesson_text.h"

#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QRadioButton>
#include <QScrollBar>
#include <QSettings>
#include <QTemporaryDir>

namespace qs::test {

/// Progress and settings go to this folder; `test` is what the program is called in them.
inline void keepSettingsIn(const QTemporaryDir& folder, const QString& test)
{
    QCoreApplication::setOrganizationName(QStringLiteral("Quantscope"));
    QCoreApplication::setApplicationName(test);
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, folder.path());
}

/// What a learner with the answers does in a window with a lesson.
struct LessonWindow {
    MainWindow& window;
    Session& session;
    LessonRoom& room { window.lessons() };
    LessonRun& run { room.run() };
    LessonPanel& panel { *window.findChild<LessonPanel*>() };
    LessonSnapshots snapshots {};

    LessonWindow(MainWindow& of, Session& its)
        : window(of)
        , session(its)
    {
    }
    explicit LessonWindow(ExampleWindow& example)
        : LessonWindow(example.window, example.session)
    {
    }

    QString folderOf(const QString& id) const
    {
        for (const LessonEntry& lesson : room.lessons())
            if (lesson.id == id)
                return lesson.folder;
        return {};
    }
    /// Nothing of the step's text is cut where there is no bar.
    bool textInReach() const
    {
        const auto* text = panel.findChild<LessonText*>();
        const double room = text->viewport()->height() + 1;
        return text->verticalScrollBar()->isVisible() || text->document()->size().height() <= room;
    }
    bool quiet()
    {
        return QTest::qWaitFor(
            [this] { return !run.busy() && session.jobs().idle() && !session.needsRun(); }, kPatience);
    }
    bool begin(const QString& id)
    {
        room.begin(folderOf(id));
        return run.active() && quiet();
    }
    QPushButton* button(const char* name) const { return panel.findChild<QPushButton*>(QLatin1String(name)); }
    bool click(const char* name)
    {
        if (!quiet() || !button(name)->isEnabled() || !button(name)->isVisible())
            return false;
        QTest::mouseClick(button(name), Qt::LeftButton);
        return quiet();
    }
    /// The right answer of the step, found without the window.
    LessonAnswer reference()
    {
        auto live = LiveStep::make(run.lesson(), run.progress().step, snapshots);
        return live.ok() ? referenceAnswer(*live, snapshots).value() : LessonAnswer {};
    }
    void choose(const std::string& number) const
    {
        auto* choice = panel.findChild<QRadioButton*>(QStringLiteral("lessonChoice") + QString::fromStdString(number));
        QTest::mouseClick(choice, Qt::LeftButton, {}, QPoint(8, choice->height() / 2));
    }
    void pick(const std::string& name)
    {
        const std::string& what = run.step().question->pick->what;
        if (what == "channel")
            session.selection().selectChannel(std::stoul(name));
        else if (what == "sample")
            session.selection().selectSample(std::stoul(name));
        else
            session.selection().selectByName(name);
    }
    void changeRecipe(const LessonJson& changes)
    {
        const auto inputs = inputsOf(run.lesson(), run.step().setup, changes);
        session.recipe().apply(QStringLiteral("by hand"), *inputs->recipe);
    }
    void fill(const LessonAnswer& answer)
    {
        const LessonQuestion& question = *run.step().question;
        const bool repair = question.kind == QuestionKind::Repair;
        if (!question.choices.empty())
            choose(repair ? answer.cause : answer.text);
        if (question.pick)
            pick(repair ? answer.place : answer.text);
        if (question.condition) {
            changeRecipe(answer.recipe);
            quiet();
        }
        if (auto* number = panel.findChild<QLineEdit*>(QStringLiteral("lessonNumber"));
            question.kind == QuestionKind::Number || question.kind == QuestionKind::Predict) {
            number->setFocus();
            QTest::keyClicks(number, QString::fromStdString(answer.text));
        }
    }
    /// Whether the answer, given by clicks, was taken as right.
    bool answers(const LessonAnswer& answer)
    {
        fill(answer);
        return click("lessonCheck") && run.shown().right;
    }
};

} // namespace qs::test
