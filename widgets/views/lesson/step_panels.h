// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/lesson/file/lesson.h"

#include <QStringList>

namespace qs {

/// Beside the graph and the lesson, those that a step's question needs.
QStringList panelsOfStep(const LessonStep& step);

} // namespace qs
