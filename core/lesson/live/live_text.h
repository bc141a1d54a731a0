// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/lesson/expression/evaluate.h"

namespace qs {

/// A text of a lesson with each `{= expression | format}` computed, and "\{" as a brace. Issues say which expression it
/// is, and what is wrong with it.
Result<std::string> liveText(const std::string& text, const Vocabulary& vocabulary);

} // namespace qs
