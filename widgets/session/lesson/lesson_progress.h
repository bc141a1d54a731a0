// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/lesson/check/lesson_result.h"

#include <QString>

#include <map>
#include <optional>
#include <set>

namespace qs {

/// How far somebody has come in a lesson.
struct LessonProgress {
    uint64_t seed = 1;
    size_t step = 0; ///< that is shown
    std::set<size_t> done; ///< steps
    std::map<size_t, StepResult> answers; ///< by the step
    double seconds = 0;
};

/// How many of the first steps are done.
size_t doneOf(const LessonProgress& progress, size_t steps);
/// Something was answered, or help was asked for.
bool hasAnswers(const LessonProgress& progress);

/// Of the settings; nothing where the lesson was never begun.
std::optional<LessonProgress> readProgress(const QString& lesson);
void keepProgress(const QString& lesson, const LessonProgress& progress);
void forgetProgress(const QString& lesson);

} // namespace qs
