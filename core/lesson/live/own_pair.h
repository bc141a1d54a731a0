// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/lesson/file/lesson.h"
#include "core/project/snapshot/snapshot.h"

namespace qs {

/// The models and samples that a snapshot compares, as a learner's own pair; nothing where it compares none.
std::optional<Inputs> ownPairOf(const Snapshot& snapshot);

/// The lesson with its "yours" behind its steps, about that pair; without one they say so.
Lesson withOwn(Lesson lesson, std::optional<Inputs> own);

} // namespace qs
