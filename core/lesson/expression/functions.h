// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/lesson/expression/vocabulary.h"

#include <optional>

namespace qs {

/// min, max, abs, round (half to even), floor, sqrt, log10, code(value, scale, zero point, "uint8"); nothing where no
/// function has that name.
std::optional<Result<LessonValue>> callFunction(const NamedPart& call);

} // namespace qs
