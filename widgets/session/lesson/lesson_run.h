// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/lesson/check/judge.h"
#include "widgets/session/lesson/lesson_progress.h"
#include "widgets/session/session.h"

#include <QElapsedTimer>
#include <QObject>
#include <QStringList>

#include <memory>

namespace qs {

/// What a lesson shows now; texts are CommonMark.
struct ShownStep {
    QString introduction, text, question;
    QStringList choices, hints; ///< hints: those that were asked for
    QString told; ///< what came of the last answer
    QString explanation; ///< once it was answered
    QString skipped; ///< why nothing is asked of the learner's models; empty: it is
    bool answered = false, right = false;
};

/// A step as it is printed; texts are CommonMark.
struct PrintedStep {
    size_t step = 0;
    QString text;
    QString asked; ///< the question, with its answer or with room for one; empty: nothing is asked
    SnapshotPtr snapshot; ///< of its setup
};

/// A lesson that is taken in the session: its setups are changes of the session, its answers are judged by workers.
class LessonRun : public QObject {
    Q_OBJECT
public:
    explicit LessonRun(Session& session, QObject* parent = nullptr);
    ~LessonRun() override;

    /// Reads a lesson and lends the session to it. Issues: it is none; nothing changes then.
    Status begin(const QString& folder, const std::string& examples, const LessonProgress& from);
    void leave(); ///< the session has what was open before
    bool active() const { return m_desk != nullptr; }
    const Lesson& lesson() const;
    const LessonStep& step() const { return lesson().steps[m_progress.step]; }
    /// What the step asks; null: nothing, or nothing of these models.
    const LessonQuestion* question() const;
    const LessonProgress& progress() const { return m_progress; }
    const ShownStep& shown() const { return m_shown; }
    bool busy() const { return m_busy; }
    /// The step's setup was changed: by the learner, or since a wrong answer is shown.
    bool moved() const;

    void goTo(size_t step);
    void check(const LessonAnswer& answer);
    void hint();
    void showMe();
    void setUp(); ///< what the step began with
    /// Everything anew, with that seed. Issues: the seed makes no lesson.
    Status startAgain(uint64_t seed);
    /// Answer to a question of the kind Reach: what the session's recipe changes.
    LessonJson changes() const;
    QStringList changesInWords() const; ///< the same for people
    LessonResult result() const;
    /// The whole lesson with its numbers, made by a worker. `answers`: those too.
    void print(bool answers, std::function<void(const std::vector<PrintedStep>&)> done);

signals:
    void changed();
    void stepShown(); ///< another one, with its setup
    void failed(const qs::Issue& issue);

private:
    struct Desk;
    using Work = std::function<Result<std::function<void()>>(Desk&)>;
    void start(const QString& title, Work work);
    void show();
    void apply(const LessonSetup& setup, const LessonJson& changes = nullptr);
    StepResult& answers();
    void adoptPair();
    void finishStep(bool right, const std::string& told, const std::string& explanation);
    void select();
    void nameRun();
    QString setupText() const; ///< what a setup is called, as a step of undo and as a run

    Session& m_session;
    std::shared_ptr<Desk> m_desk; ///< shared with workers; null: no lesson
    QString m_folder;
    std::string m_examples;
    LessonProgress m_progress;
    ShownStep m_shown;
    QElapsedTimer m_clock;
    bool m_busy = false;
    std::optional<LessonSetup> m_toSelect; ///< once the session has it
};

} // namespace qs
