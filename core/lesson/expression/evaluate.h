// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/lesson/expression/vocabulary.h"

namespace qs {

/// Issues (without file and remedy) say at which character: a name that is unknown, a value that does not exist, a
/// division by zero, an operand of another kind.
Result<LessonValue> evaluate(const Expression& expression, const Vocabulary& vocabulary);
Result<double> evaluateNumber(const Expression& expression, const Vocabulary& vocabulary);
Result<bool> evaluateTruth(const Expression& expression, const Vocabulary& vocabulary);

/// A value as people read it: six digits, "true", the name. With a format: "fixed 2", "digits 3", "percent 1", "whole".
Result<std::string> valueText(const LessonValue& value, std::string_view format = {});

} // namespace qs
