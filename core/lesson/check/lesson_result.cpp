// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/lesson/check/lesson_result.h"

namespace qs {

LessonJson resultJson(const Lesson& lesson, const LessonResult& result)
{
    LessonJson json { { "schema_version", 1 }, { "lesson", lesson.id }, { "title", lesson.title },
        { "seed", lesson.seed }, { "complete", result.complete }, { "seconds", result.seconds },
        { "steps", LessonJson::array() }, { "yours", LessonJson::array() } };
    const auto row = [](const StepResult& step) {
        return LessonJson { { "step", step.step }, { "right", step.right }, { "shown", step.shown },
            { "hints", step.hints }, { "tries", step.tries } };
    };
    for (const StepResult& step : result.steps)
        json["steps"].push_back(row(step));
    for (const StepResult& step : result.yours) {
        LessonJson own = row(step);
        own["skipped"] = step.skipped.empty() ? LessonJson() : LessonJson(step.skipped);
        json["yours"].push_back(std::move(own));
    }
    return json;
}

} // namespace qs
