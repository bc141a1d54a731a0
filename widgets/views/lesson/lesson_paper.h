// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/lesson/check/lesson_result.h"

#include <QString>

namespace qs {

/// A text of a lesson on pages of A4, as a PDF. `folder`: where its pictures lie.
Status writeLessonPdf(const std::string& path, const QString& title, const QString& markdown, const QString& folder);

/// What was answered, on a page: answers, tries, hints, time, seed.
Status writeResultPdf(const std::string& path, const Lesson& lesson, const LessonResult& result);
/// As `quantscope-cli lesson run --json` writes it.
Status writeResultJson(const std::string& path, const Lesson& lesson, const LessonResult& result);

} // namespace qs
