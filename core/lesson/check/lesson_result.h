// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/lesson/file/lesson.h"

namespace qs {

/// What came of one question.
struct StepResult {
    std::string step; ///< its id
    bool right = false;
    bool shown = false; ///< the answer was given away
    size_t hints = 0; ///< that were looked at
    std::string skipped; ///< why it was not asked, of a question about the learner's models; empty: it was
    LessonJson tries = LessonJson::array(); ///< answers as they were typed; a repair is a list of three
};

/// What came of a lesson.
struct LessonResult {
    bool complete = false; ///< it came to its last step
    double seconds = 0;
    std::vector<StepResult> steps; ///< questions that were asked
    std::vector<StepResult> yours; ///< those about the learner's models, which count for nothing else
};

/// {"schema_version", "lesson", "title", "seed", "complete", "seconds", "steps": [{"step", "right", "shown", "hints",
/// "tries"}], "yours": [the same, with "skipped"]}
LessonJson resultJson(const Lesson& lesson, const LessonResult& result);

} // namespace qs
