// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/lesson/file/lesson.h"

namespace qs {

/// Where lessons are looked for.
struct LessonPlaces {
    std::string lessons; ///< a folder of lesson folders
    std::string examples; ///< what "example:NAME" leads to
};

/// Those beside a program: installed (share/quantscope) or where it was built. Empty where there are none.
LessonPlaces bundledLessons(const std::string& programFolder);

/// A lesson as its files have it, before a seed is chosen.
struct LessonFile {
    std::string folder, examples;
    LessonJson json;
    std::string markdown;
};

/// Reads lesson.json and lesson.md. Issues: no such folder, no regular file, too large, no JSON, no UTF-8.
Result<LessonFile> readLessonFile(const std::string& folder, const std::string& examples);

/// Folders with a lesson.json in a folder, in the order of its course.json, the others behind by name; the folder
/// itself where it has one. Issues: not readable, too many.
Result<std::vector<std::string>> lessonFolders(const std::string& folder);

/// A file within a folder, without leaving it by "..", an absolute path or a link. Issues without a file.
Result<std::string> pathWithin(const std::string& folder, const std::string& path);

} // namespace qs
