// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/lesson/check/lesson_result.h"
#include "widgets/session/lesson/lesson_run.h"

#include <QString>

namespace qs {

/// A lesson on pages of A4, as a PDF, with the charts of its steps as vectors. `answers`: they are in the steps, too.
Status writeLessonPdf(
    const std::string& path, const Lesson& lesson, const std::vector<PrintedStep>& steps, bool answers);

/// What was answered, on a page: answers, tries, hints, time, seed.
Status writeResultPdf(const std::string& path, const Lesson& lesson, const LessonResult& result);
/// As `quantscope-cli lesson run --json` writes it.
Status writeResultJson(const std::string& path, const Lesson& lesson, const LessonResult& result);

} // namespace qs
