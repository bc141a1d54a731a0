// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/lesson/file/lesson_fields.h"

namespace qs {

/// One step of lesson.json without its title and text, which lesson.md has. `before`: the setup that holds where the
/// step has none; null for the first step, which needs one. Faults go to the issue of `in`.
LessonStep stepOf(LessonFields& in, const Lesson& lesson, const LessonSetup* before);
/// One of "yours": about the learner's pair, whatever it is.
LessonStep ownStepOf(LessonFields& in, const Lesson& lesson);

/// All texts of a step that lesson.json holds: question, choices, hints, what misconceptions show, explanation.
std::vector<std::string> textsOf(const LessonStep& step);

} // namespace qs
