// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/lesson/check/live_step.h"

namespace qs {

/// What a learner answers, as far as the kind of question needs it.
struct LessonAnswer {
    std::string text; ///< a number with or without its unit, the number of a choice (from 1), a name
    LessonJson recipe; ///< Reach, Repair: changes of the setup's recipe
    std::string cause, place; ///< Repair: the number of the cause (from 1), and the name of the place
};

struct JudgedAnswer {
    bool right = false;
    std::string reference; ///< the right answer as people read it
    std::string why; ///< what is wrong, or how far away it is; empty where it is right
    std::optional<size_t> misconception; ///< of the step, which the answer is
    bool asReference = false; ///< a number that is read as the reference is, or the recipe of the lesson's own changes
};

/// Judges by the live snapshot; a prediction is run first. Issues: an answer that cannot be read (kind BadUse: ask
/// again), a lesson whose expressions have no value.
Result<JudgedAnswer> judge(LiveStep& step, const LessonAnswer& answer, LessonSnapshots& snapshots);

/// The right answer. Issues: expressions without a value, a choice with none or several right answers.
Result<LessonAnswer> referenceAnswer(LiveStep& step, LessonSnapshots& snapshots);
/// Near to it, and wrong: beyond the tolerance, every other choice, another name, the recipe left as it is.
Result<std::vector<LessonAnswer>> perturbedAnswers(LiveStep& step, LessonSnapshots& snapshots);
/// The answer that a misconception gives.
Result<LessonAnswer> misconceptionAnswer(LiveStep& step, size_t index, LessonSnapshots& snapshots);

/// What counts as right around the reference of a number.
Result<double> toleranceOf(const LiveStep& step, double reference);

/// Index of the one right choice or cause.
Result<size_t> rightChoice(const LiveStep& step);

} // namespace qs
