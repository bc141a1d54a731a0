// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/lesson/check/answer_text.h"

#include "core/base/text/one_line.h"
#include "core/base/text/true_minus.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>

namespace qs {

std::string trimmedAnswer(const std::string& text)
{
    const size_t from = text.find_first_not_of(" \t\r\n");
    return from == std::string::npos ? std::string() : text.substr(from, text.find_last_not_of(" \t\r\n") + 1 - from);
}

Result<double> typedNumber(const std::string& text, const std::string& unit)
{
    const std::string bare = withHyphens(trimmedAnswer(text));
    const char* const end = bare.data() + bare.size();
    double value = 0;
    const bool plus = bare.starts_with('+');
    const auto [next, error] = std::from_chars(bare.data() + (plus ? 1 : 0), end, value);
    const std::string rest = trimmedAnswer(std::string(next, end));
    if (error != std::errc() || !std::isfinite(value) || rest.starts_with(','))
        return badUse("'" + oneLine(bare, 60) + "' is no number", "write it as in -12.5");
    if (!rest.empty() && rest != unit)
        return badUse("'" + oneLine(rest, 20) + "' is not the unit",
            unit.empty() ? std::string("give a number alone") : "give it in " + unit);
    return value;
}

Result<size_t> typedChoice(const std::string& text, size_t count)
{
    const std::string bare = trimmedAnswer(text);
    size_t number = 0;
    const auto [next, error] = std::from_chars(bare.data(), bare.data() + bare.size(), number);
    if (error != std::errc() || next != bare.data() + bare.size() || number < 1 || number > count)
        return badUse("'" + oneLine(bare, 60) + "' is no choice", "give a number from 1 to " + std::to_string(count));
    return number - 1;
}

std::string exactText(double number) { return fmt::format("{}", number + 0.0); }

std::string withUnit(double number, const std::string& unit, double tolerance)
{
    constexpr double kDecibels = 0.1; ///< of this tolerance and more, one digit behind the point says it
    constexpr double kShare = 25; ///< rounding may take so much less than the tolerance
    std::string text = fmt::format("{:.6g}", number + 0.0);
    if (unit == "dB" && tolerance >= kDecibels)
        text = fmt::format("{:.1f}", number + 0.0);
    else if (const double digits = std::ceil(std::log10(kShare / tolerance)); digits < 6) {
        std::string rounded = fmt::format("{:.{}f}", number + 0.0, int(std::max(digits, 0.0)));
        if (rounded.find('.') != std::string::npos)
            rounded.erase(rounded.find_last_not_of('0') + 1);
        if (rounded.ends_with('.'))
            rounded.pop_back();
        if (rounded.size() < text.size())
            text = rounded;
    }
    return withTrueMinus(text) + (unit.empty() ? "" : " " + unit);
}

Result<std::string> answerText(const LessonValue& value)
{
    if (const double* number = std::get_if<double>(&value))
        return exactText(*number);
    if (const auto* name = std::get_if<std::string>(&value))
        return *name;
    return badInput("a condition is no answer");
}

std::vector<std::pair<std::string, LessonJson>> recipeLeaves(const LessonJson& changes)
{
    std::vector<std::pair<std::string, LessonJson>> leaves;
    if (changes.is_object())
        for (const auto& [key, value] : changes.items()) {
            const std::string name = key.find_first_of(". ") == std::string::npos ? key : '"' + key + '"';
            if (!value.is_object())
                leaves.emplace_back(name, value);
            for (auto& [path, leaf] : recipeLeaves(value))
                leaves.emplace_back(name + "." + path, std::move(leaf));
        }
    return leaves;
}

std::string recipeText(const LessonJson& changes)
{
    std::string text;
    for (const auto& [path, value] : recipeLeaves(changes))
        text += (text.empty() ? "" : " ") + path + "=" + (value.is_string() ? value.get<std::string>() : value.dump());
    return oneLine(text);
}

} // namespace qs
