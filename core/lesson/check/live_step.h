// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/lesson/live/lesson_snapshots.h"
#include "core/lesson/live/snapshot_facts.h"

#include <memory>

namespace qs {

/// A step with the numbers of its setup. The lesson has to outlive it. Texts are complete: nothing in braces is left,
/// and what was filled in is held against the rules for markup once more.
class LiveStep {
public:
    /// Issues: the setup does not work.
    static Result<LiveStep> make(const Lesson& lesson, size_t index, LessonSnapshots& snapshots);

    const Lesson& lesson() const { return *m_lesson; }
    size_t index() const { return m_index; }
    const LessonStep& step() const { return m_lesson->steps[m_index]; }
    const LessonQuestion& question() const { return *step().question; } ///< of a step that asks one
    /// Of the setup.
    const SnapshotFacts& now() const { return *m_now; }
    /// Of what is judged: of the setup, or after run() of what a prediction is about.
    const SnapshotFacts& judged() const { return m_then ? *m_then : *m_now; }
    /// Makes what a prediction is about; nothing to do for other questions. Issues: that setup does not work.
    Status run(LessonSnapshots& snapshots);
    /// The facts of the setup with these changes of the recipe; `before` is what was judged.
    Result<std::unique_ptr<SnapshotFacts>> changed(const LessonJson& changes, LessonSnapshots& snapshots) const;
    /// The same without any change.
    std::unique_ptr<SnapshotFacts> asChanged() const;

    Result<std::string> introduction() const; ///< of the lesson, with the numbers of this step
    Result<std::string> text() const;
    Result<std::string> questionText() const;
    Result<std::string> choiceText(size_t choice) const;
    Result<std::string> hint(size_t number) const; ///< 0, 1, 2; an issue where there is none
    Result<std::string> explanation() const; ///< after run()
    Result<std::string> otherwise() const; ///< of an own step that is not asked
    /// Changes of the recipe that answer the question, with what they name on the models at hand.
    Result<LessonJson> reference() const;
    /// Runs a misconception and says what it shows.
    Result<std::string> misconceptionText(size_t index, LessonSnapshots& snapshots) const;

private:
    Result<std::string> shown(const std::string& text, const SnapshotFacts& facts) const;
    Result<std::unique_ptr<SnapshotFacts>> factsOf(const LessonSetup& setup, const LessonJson& changes,
        LessonSnapshots& snapshots, const SnapshotFacts* before) const;

    const Lesson* m_lesson = nullptr;
    size_t m_index = 0;
    std::unique_ptr<SnapshotFacts> m_now, m_then;
};

} // namespace qs
