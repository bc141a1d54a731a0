// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/lesson/expression/expression.h"
#include "core/lesson/file/lesson.h"

namespace qs {

/// Answers as people type and read them. Issues are of kind BadUse: ask again.

std::string trimmedAnswer(const std::string& text);
/// A number, with the unit or without, with either minus sign.
Result<double> typedNumber(const std::string& text, const std::string& unit);
/// "1" is the first of `count`; the index is given.
Result<size_t> typedChoice(const std::string& text, size_t count);

/// With all its digits, so that reading it gives the same number.
std::string exactText(double number);
/// For people: decibels as everywhere with one digit behind the point, others with six digits; fewer where the
/// tolerance of the answer makes them mean nothing, more where it is narrower.
std::string withUnit(double number, const std::string& unit, double tolerance);
/// As somebody types it. Issues: a condition.
Result<std::string> answerText(const LessonValue& value);
/// "calibration.method=percentile activation_type=uint8"
std::string recipeText(const LessonJson& changes);
/// The members that are no objects, by their paths.
std::vector<std::pair<std::string, LessonJson>> recipeLeaves(const LessonJson& changes);

} // namespace qs
