// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/lesson/expression/evaluate.h"
#include "core/lesson/file/lesson.h"

namespace qs {

/// A text of a lesson with each `{= expression | format}` computed for people, with true minus signs, and "\{" as a
/// brace. Issues say which expression it is, and what is wrong with it.
Result<std::string> liveText(const std::string& text, const Vocabulary& vocabulary);
/// All texts and keys of it.
Result<LessonJson> liveJson(const LessonJson& json, const Vocabulary& vocabulary);

} // namespace qs
