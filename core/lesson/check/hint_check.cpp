// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/lesson/check/hint_check.h"

#include "core/base/text/true_minus.h"
#include "core/lesson/check/answer_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace qs {

namespace {

bool isNameByte(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

std::vector<double> numbersIn(const std::string& shown)
{
    const std::string text = withHyphens(shown);
    std::vector<double> numbers;
    for (size_t i = 0; i < text.size(); ++i) {
        const bool digit = text[i] >= '0' && text[i] <= '9';
        if (!digit || (i > 0 && (isNameByte(text[i - 1]) || text[i - 1] == '.')))
            continue;
        const bool negative = i > 0 && text[i - 1] == '-' && (i < 2 || !isNameByte(text[i - 2]));
        double value = 0;
        const auto [end, error] = std::from_chars(text.data() + i, text.data() + text.size(), value);
        if (error == std::errc())
            numbers.push_back(negative ? -value : value);
        i = size_t(end - text.data());
    }
    return numbers;
}

std::string lowered(std::string text)
{
    std::ranges::transform(text, text.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
    return text;
}

bool contains(const std::string& text, const std::string& part)
{
    return !part.empty() && lowered(text).find(lowered(part)) != std::string::npos;
}

Result<bool> holdsNumber(const LiveStep& step, double reference, double tolerance, const std::string& hint)
{
    QS_TRY(const std::string text, step.text());
    QS_TRY(const std::string question, step.questionText());
    const std::vector<double> shown = numbersIn(text + "\n" + question);
    return std::ranges::any_of(numbersIn(hint), [&](double number) {
        return std::fabs(number - reference) <= tolerance && std::ranges::find(shown, number) == shown.end();
    });
}

bool holdsRecipe(const LessonJson& reference, const std::string& hint)
{
    const auto leaves = recipeLeaves(reference);
    return !leaves.empty() && std::ranges::all_of(leaves, [&](const auto& leaf) {
        const std::string key = leaf.first.substr(leaf.first.rfind('.') + 1);
        return contains(hint, key)
            && contains(hint, leaf.second.is_string() ? leaf.second.template get<std::string>() : leaf.second.dump());
    });
}

} // namespace

Result<std::string> givenAway(const LiveStep& step, const LessonAnswer& reference, const std::string& hint)
{
    const LessonQuestion& question = step.question();
    if (question.answer) {
        QS_TRY(const double value, evaluateNumber(*question.answer, step.judged()));
        QS_TRY(const double tolerance, toleranceOf(step, value));
        QS_TRY(const bool held, holdsNumber(step, value, tolerance, hint));
        return std::string(held ? "holds the number that is asked for" : "");
    }
    if (question.pick && (question.pick->what == "channel" || question.pick->what == "sample")) {
        QS_TRY(const double value, typedNumber(question.condition ? reference.place : reference.text, {}));
        QS_TRY(const bool held, holdsNumber(step, value, 0, hint));
        return std::string(held ? "holds the number that is asked for" : "");
    }
    if (question.pick && contains(hint, question.condition ? reference.place : reference.text))
        return std::string("holds the name that is asked for");
    if (!question.choices.empty()) {
        QS_TRY(const size_t right, rightChoice(step));
        QS_TRY(const std::string text, step.choiceText(right));
        if (contains(hint, text))
            return std::string("holds the right choice");
    }
    return std::string(question.condition && holdsRecipe(reference.recipe, hint) ? "holds the whole recipe" : "");
}

} // namespace qs
