// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/lesson/expression/evaluate.h"
#include "core/lesson/file/lesson.h"

#include <span>

namespace qs {

/// Follows the parts of a path into a JSON value: members by their keys, `item(i)` of lists, `channel(i)` of rows with
/// a list a channel, `term(i)` and `step("name")` of explained elements, `count`, `largest`, `smallest`,
/// `index_of_largest` and `index_of_smallest` of lists, and short names such as range_low. Issues: no such member, no
/// value, more than one value.
Result<LessonValue> valueAt(const LessonJson& json, std::span<const NamedPart> path);

/// A whole number from 0 that is below `count`, given as the only argument.
Result<size_t> indexOf(const NamedPart& part, size_t count);
/// A text given as the only argument.
Result<std::string> textOf(const NamedPart& part);

} // namespace qs
