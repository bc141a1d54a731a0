// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/lesson/check/judge.h"

namespace qs {

/// Why a hint gives the answer away: its number, its name, the right choice in full, every change of the reference
/// recipe. Numbers that the step shows anyway do not count. Empty where it does not.
Result<std::string> givenAway(const LiveStep& step, const LessonAnswer& reference, const std::string& hint);

} // namespace qs
