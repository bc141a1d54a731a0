// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/lesson/check/live_step.h"

namespace qs {

/// A step about the learner's pair, or why its question makes no sense there.
struct OwnStep {
    std::optional<LiveStep> live; ///< nothing where its setup does not work
    std::string skipped; ///< one sentence; empty: it is asked
    std::optional<Issue> unusable; ///< what is wrong with the models or the data, where that is why
};

/// Makes a step of withOwn(). Its question is asked where it can be answered: its answer exists, what reaches a goal on
/// other models reaches it here, and it is not reached before anything is changed. Issues: cancelled, a text of the
/// lesson without its numbers.
Result<OwnStep> ownStep(const Lesson& lesson, size_t index, LessonSnapshots& snapshots);

} // namespace qs
