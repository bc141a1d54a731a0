// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/lesson/expression/evaluate.h"

#include "core/base/rounding.h"
#include "core/base/text/one_line.h"
#include "core/lesson/expression/functions.h"

#include <charconv>
#include <cmath>
#include <fmt/format.h>

namespace qs {

namespace {

using Kind = Expression::Kind;

Issue wrongKind(const Expression& e, const char* wanted)
{
    return badInput(std::string("a ") + wanted + " is needed " + placeText(e.position));
}

Result<LessonValue> pathValue(const Expression& e, const Vocabulary& words)
{
    const PathPart& head = e.path.front();
    if (head.name == "before" && head.called) {
        if (!words.before())
            return badInput("there is no before() in this step, " + placeText(head.position));
        if (head.arguments.size() != 1 || e.path.size() != 1)
            return badInput("before() takes one expression, " + placeText(head.position));
        return evaluate(head.arguments.front(), *words.before());
    }
    std::vector<NamedPart> path;
    for (const PathPart& part : e.path) {
        NamedPart& known = path.emplace_back(NamedPart { part.name, part.position, part.called, {} });
        for (const Expression& argument : part.arguments) {
            QS_TRY(LessonValue value, evaluate(argument, words));
            known.arguments.push_back(std::move(value));
        }
    }
    if (path.size() == 1 && head.called)
        if (auto computed = callFunction(path.front()))
            return std::move(computed).value();
    return words.find(path);
}

Result<LessonValue> logic(const Expression& e, const Vocabulary& words)
{
    const bool settles = e.kind == Kind::Or; // the value that decides it
    bool settled = false;
    for (const Expression& operand : e.operands) { // all of them: a missing value is said, wherever it stands
        QS_TRY(const bool truth, evaluateTruth(operand, words));
        settled |= truth == settles;
    }
    return LessonValue(settled ? settles : !settles);
}

Result<LessonValue> arithmetic(const Expression& e, const Vocabulary& words)
{
    QS_TRY(double value, evaluateNumber(e.operands.front(), words));
    for (size_t i = 1; i < e.operands.size(); ++i) {
        QS_TRY(const double next, evaluateNumber(e.operands[i], words));
        const char sign = e.operators[i - 1].front();
        if (sign == '/' && next == 0)
            return badInput("a division by zero " + placeText(e.operands[i].position));
        value = sign == '+' ? value + next : sign == '-' ? value - next : sign == '*' ? value * next : value / next;
    }
    if (!std::isfinite(value))
        return badInput("a result beyond all numbers " + placeText(e.position));
    return LessonValue(value);
}

Result<LessonValue> comparison(const Expression& e, const Vocabulary& words)
{
    QS_TRY(const LessonValue left, evaluate(e.operands[0], words));
    QS_TRY(const LessonValue right, evaluate(e.operands[1], words));
    const std::string& sign = e.operators.front();
    if (left.index() != right.index())
        return badInput("things of different kinds are compared " + placeText(e.position));
    if (sign == "==" || sign == "!=")
        return LessonValue((left == right) == (sign == "=="));
    if (!std::holds_alternative<double>(left))
        return badInput("'" + sign + "' compares numbers, " + placeText(e.position));
    const bool swapped = sign.front() == '>';
    const double a = std::get<double>(swapped ? right : left), b = std::get<double>(swapped ? left : right);
    return LessonValue(sign.size() == 2 ? a <= b : a < b);
}

/// Without the sign of a zero.
std::string printed(std::string text)
{
    return text.find_first_not_of("-0.") == std::string::npos && text.front() == '-' ? text.substr(1) : text;
}

} // namespace

Result<LessonValue> evaluate(const Expression& e, const Vocabulary& words)
{
    switch (e.kind) {
    case Kind::Constant:
        return e.constant;
    case Kind::Path:
        return pathValue(e, words);
    case Kind::Not: {
        QS_TRY(const bool truth, evaluateTruth(e.operands.front(), words));
        return LessonValue(!truth);
    }
    case Kind::Negative: {
        QS_TRY(const double value, evaluateNumber(e.operands.front(), words));
        return LessonValue(-value);
    }
    case Kind::And:
    case Kind::Or:
        return logic(e, words);
    case Kind::Sum:
    case Kind::Product:
        return arithmetic(e, words);
    case Kind::Compare:
        return comparison(e, words);
    }
    return internalError("an expression of no kind");
}

Result<double> evaluateNumber(const Expression& e, const Vocabulary& words)
{
    QS_TRY(const LessonValue value, evaluate(e, words));
    if (const double* number = std::get_if<double>(&value))
        return *number;
    return wrongKind(e, "number");
}

Result<bool> evaluateTruth(const Expression& e, const Vocabulary& words)
{
    QS_TRY(const LessonValue value, evaluate(e, words));
    if (const bool* truth = std::get_if<bool>(&value))
        return *truth;
    return wrongKind(e, "condition");
}

Result<std::string> valueText(const LessonValue& value, std::string_view format)
{
    if (const auto* text = std::get_if<std::string>(&value); text && format.empty())
        return oneLine(*text);
    if (const bool* truth = std::get_if<bool>(&value); truth && format.empty())
        return std::string(*truth ? "true" : "false");
    const double* number = std::get_if<double>(&value);
    if (!number)
        return badInput("the format '" + oneLine(format) + "' is one of numbers");
    if (format.empty())
        return printed(fmt::format("{:.6g}", *number));
    if (format == "whole")
        return printed(fmt::format("{:.0f}", *number));
    const size_t space = std::min(format.find(' '), format.size());
    const std::string_view word = format.substr(0, space), rest = format.substr(std::min(space + 1, format.size()));
    int digits = -1;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), digits);
    if (error == std::errc() && end == rest.data() + rest.size() && digits >= 0 && digits <= 12) {
        if (word == "fixed")
            return printed(fmt::format("{:.{}f}", *number, digits));
        if (word == "digits" && digits > 0)
            return printed(fmt::format("{:.{}g}", *number, digits));
        if (word == "percent")
            return printed(fmt::format("{:.{}f}", 100 * *number, digits)) + " %";
    }
    return badInput("'" + oneLine(format) + "' is no format; use 'fixed 2', 'digits 3', 'percent 1' or 'whole'");
}

} // namespace qs
