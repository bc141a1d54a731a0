// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/lesson/file/lesson_folder.h"

#include <QString>

#include <vector>

namespace qs {

/// A lesson to choose.
struct LessonEntry {
    QString folder, id;
    QString title; ///< with its number, where there are several
    size_t minutes = 0, steps = 0;
    std::vector<std::pair<QString, size_t>> teaches; ///< topics, and the step that teaches each
    QString problem; ///< why it cannot be taken; empty: it can
};

/// Beside the program.
LessonPlaces lessonsOfProgram();

/// Those of a folder of lessons, or the one that it is, in the order of what they need; problem: why there are none.
std::vector<LessonEntry> lessonEntries(const LessonPlaces& places, QString* problem = nullptr);

} // namespace qs
