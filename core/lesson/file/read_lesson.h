// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/lesson/file/lesson_folder.h"

namespace qs {

/// The lesson that a seed makes of its files. Issues are one sentence with file, step and key: an unknown key, a value
/// of another kind, a path that leaves the folder, a file that is missing, an expression that is none, sections of
/// lesson.md that are not the steps of lesson.json in their order.
Result<Lesson> lessonOf(const LessonFile& file, uint64_t seed);
/// Reads and makes it.
Result<Lesson> readLesson(const std::string& folder, const std::string& examples, uint64_t seed);

} // namespace qs
