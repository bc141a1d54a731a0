// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/lesson/check/lesson_result.h"

namespace qs {

LessonJson resultJson(const Lesson& lesson, const LessonResult& result)
{
    LessonJson json { { "schema_version", 1 }, { "lesson", lesson.id }, { "title", lesson.title },
        { "seed", lesson.seed }, { "complete", result.complete }, { "seconds", result.seconds },
        { "steps", LessonJson::array() } };
    for (const StepResult& step : result.steps)
        json["steps"].push_back({ { "step", step.step }, { "right", step.right }, { "shown", step.shown },
            { "hints", step.hints }, { "tries", step.tries } });
    return json;
}

} // namespace qs
