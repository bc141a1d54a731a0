// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/options/options.h"
#include "core/lesson/file/lesson_folder.h"
#include "core/lesson/live/lesson_snapshots.h"

namespace qs::cli {

/// Where the lessons are that were asked for: the bundled ones, or --lessons.
struct LessonOptions {
    std::string lessons; ///< --lessons; empty: the bundled ones
    std::vector<std::string> which; ///< ids, or folders
    std::string seed = "1", seeds = "3";
    std::string floatPath, quantPath; ///< the learner's own pair; the first empty: none
    DataOptions data; ///< of that pair
    bool yours = false; ///< --yours
};

Result<LessonPlaces> placesOf(const LessonOptions& options);
/// Folders of the lessons that were named; all of them where none was.
Result<std::vector<std::string>> foldersOf(const LessonOptions& options, const LessonPlaces& places);
/// With threads, memory and cancelling as the options say.
Result<LessonSnapshots> snapshotsOf(const Context& context);

/// A whole number from `least` to `most`; `option` is named in the issue.
Result<uint64_t> wholeOption(const char* option, const std::string& text, uint64_t least, uint64_t most);

/// `lesson run`: asks on stdin, step by step.
Result<int> runLesson(const LessonOptions& options, Context& context);

} // namespace qs::cli
