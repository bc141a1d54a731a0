// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/lesson/file/lesson_folder.h"
#include "core/lesson/live/lesson_snapshots.h"

namespace qs {

/// What is wrong with a lesson.
struct LessonProblem {
    std::string lesson; ///< its folder's name
    std::string step; ///< empty: the whole lesson
    uint64_t seed = 0;
    std::string what; ///< a sentence without a full stop
};

struct LessonCheck {
    std::vector<LessonProblem> problems;
    size_t steps = 0, answers = 0; ///< carried out, over all seeds
    size_t seeds = 0; ///< 1 where nothing depends on the seed
};

/// Carries a lesson out for seeds 1 … `seeds`: setups work, texts have their numbers, reference answers pass, perturbed
/// answers and misconceptions fail, hints do not give the answer away, what is selected exists. Questions about the
/// learner's models are asked of the bundled example. A step with a problem
/// is not looked at again for later seeds. Issues: cancelled.
Result<LessonCheck> checkLesson(
    const std::string& folder, const std::string& examples, uint64_t seeds, LessonSnapshots& snapshots);

/// "a/what-is-a-scale (seed 3): ..."
std::string problemText(const LessonProblem& problem);

} // namespace qs
