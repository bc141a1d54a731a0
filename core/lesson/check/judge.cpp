// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/lesson/check/judge.h"

#include "core/base/text/one_line.h"
#include "core/lesson/check/answer_text.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

bool isNumber(QuestionKind kind) { return kind == QuestionKind::Number || kind == QuestionKind::Predict; }
bool isRecipe(QuestionKind kind) { return kind == QuestionKind::Reach || kind == QuestionKind::Repair; }

/// A misconception as what it stands for: a number, the number of a choice, a name.
Result<LessonValue> misconceptionValue(const LiveStep& step, size_t index)
{
    return evaluate(*step.step().misconceptions[index].answer, step.judged());
}

/// The first misconception for which `matches(value)` holds.
template <class Matches> std::optional<size_t> misconceptionLike(const LiveStep& step, Matches matches)
{
    for (size_t i = 0; i < step.step().misconceptions.size(); ++i) {
        if (!step.step().misconceptions[i].answer)
            continue; // a recipe
        if (const auto value = misconceptionValue(step, i); value.ok() && matches(*value))
            return i;
    }
    return std::nullopt;
}

Result<JudgedAnswer> judgeNumber(const LiveStep& step, const std::string& text)
{
    const LessonQuestion& question = step.question();
    QS_TRY(const double given, typedNumber(text, question.unit));
    QS_TRY(const double reference, evaluateNumber(*question.answer, step.judged()));
    QS_TRY(const double tolerance, toleranceOf(step, reference));
    JudgedAnswer judged;
    judged.right = std::fabs(given - reference) <= tolerance;
    judged.reference = withUnit(reference, question.unit, tolerance);
    judged.asReference = withUnit(given, question.unit, tolerance) == judged.reference;
    if (judged.right)
        return judged;
    judged.why = given > reference ? "too large" : "too small"; // by how much would be the answer
    judged.misconception = misconceptionLike(step, [&](const LessonValue& value) {
        const double* wrong = std::get_if<double>(&value);
        return wrong && std::fabs(given - *wrong) <= tolerance && std::signbit(given) == std::signbit(*wrong);
    });
    return judged;
}

Result<JudgedAnswer> judgeChoice(const LiveStep& step, const std::string& text)
{
    QS_TRY(const size_t given, typedChoice(text, step.question().choices.size()));
    QS_TRY(const size_t right, rightChoice(step));
    JudgedAnswer judged;
    judged.right = given == right;
    QS_TRY(const std::string reference, step.choiceText(right));
    judged.reference = std::to_string(right + 1) + ": " + reference;
    if (judged.right)
        return judged;
    judged.why = "another choice is right";
    judged.misconception
        = misconceptionLike(step, [&](const LessonValue& value) { return value == LessonValue(double(given + 1)); });
    return judged;
}

Result<JudgedAnswer> judgePick(const LiveStep& step, const std::string& text)
{
    const LessonPick& pick = *step.question().pick;
    QS_TRY(const LessonValue reference, evaluate(pick.answer, step.judged()));
    QS_TRY(const std::string right, valueText(reference));
    const auto same = [&](const LessonValue& value) -> Result<bool> {
        if (std::holds_alternative<double>(value)) {
            QS_TRY(const double number, typedNumber(text, {}));
            return number == std::get<double>(value);
        }
        const auto* name = std::get_if<std::string>(&value);
        return name && step.judged().sameThing(pick.what, trimmedAnswer(text), *name);
    };
    QS_TRY(bool isRight, same(reference));
    isRight = isRight || step.judged().equallyExtreme(pick.answer, trimmedAnswer(text));
    JudgedAnswer judged;
    judged.right = isRight;
    judged.reference = right;
    if (judged.right)
        return judged;
    if (std::holds_alternative<std::string>(reference) && !step.judged().knows(trimmedAnswer(text)))
        return badUse(
            "there is no " + pick.what + " '" + oneLine(trimmedAnswer(text), 80) + "'", "give its whole name");
    judged.why = "it is another " + pick.what;
    judged.misconception = misconceptionLike(step, [&](const LessonValue& value) {
        const auto equal = same(value);
        return equal.ok() && *equal;
    });
    return judged;
}

/// Whether both make the same recipe of the setup's, however they are written.
bool sameRecipe(const LiveStep& step, const LessonJson& a, const LessonJson& b)
{
    const auto recipeWith = [&](const LessonJson& with) {
        auto inputs = inputsOf(step.lesson(), step.step().setup, with);
        if (inputs.ok() && inputs->recipe) // an override that says nothing is none
            std::erase_if(inputs->recipe->tensors, [](const auto& one) { return one.second == TensorOverride {}; });
        return inputs;
    };
    const auto one = recipeWith(a), other = recipeWith(b);
    return one.ok() && other.ok() && one->recipe == other->recipe;
}

/// The misconception whose recipe the answer's is.
std::optional<size_t> misconceptionOfRecipe(const LiveStep& step, const LessonJson& changes)
{
    for (size_t i = 0; i < step.step().misconceptions.size(); ++i)
        if (sameRecipe(step, step.step().misconceptions[i].recipe, changes))
            return i;
    return std::nullopt;
}

Result<JudgedAnswer> judgeRecipe(const LiveStep& step, const LessonJson& changes, LessonSnapshots& snapshots)
{
    if (const auto inputs = inputsOf(step.lesson(), step.step().setup, changes); !inputs.ok())
        return badUse(inputs.issue().what, inputs.issue().remedy);
    QS_TRY(const auto facts, step.changed(changes, snapshots));
    QS_TRY(const bool holds, evaluateTruth(*step.question().condition, *facts));
    JudgedAnswer judged;
    judged.right = holds;
    QS_TRY(const LessonJson reference, step.reference());
    judged.reference = recipeText(reference);
    judged.asReference = sameRecipe(step, reference, changes);
    if (!judged.right) {
        judged.why = "the goal is not reached with this recipe";
        judged.misconception = misconceptionOfRecipe(step, changes);
    }
    return judged;
}

/// One sentence out of parts, of which a choice may be a sentence itself.
std::string withoutStop(std::string text)
{
    if (text.ends_with('.'))
        text.pop_back();
    return text;
}

Result<JudgedAnswer> judgeRepair(const LiveStep& step, const LessonAnswer& answer, LessonSnapshots& snapshots)
{
    QS_TRY(const JudgedAnswer cause, judgeChoice(step, answer.cause));
    QS_TRY(const JudgedAnswer place, judgePick(step, answer.place));
    QS_TRY(JudgedAnswer judged, judgeRecipe(step, answer.recipe, snapshots));
    judged.reference = "cause " + withoutStop(cause.reference) + "; place " + place.reference + "; " + judged.reference;
    if (!cause.right)
        judged.why = "it is not that cause";
    else if (!place.right)
        judged.why = "it is not that place";
    judged.right = judged.right && cause.right && place.right;
    return judged;
}

} // namespace

Result<double> toleranceOf(const LiveStep& step, double reference)
{
    const LessonQuestion& question = step.question();
    double tolerance = std::max(question.relative * std::fabs(reference), 1e-9 * std::max(1.0, std::fabs(reference)));
    if (question.tolerance) {
        QS_TRY(const double absolute, evaluateNumber(*question.tolerance, step.judged()));
        tolerance = std::max(tolerance, absolute);
    }
    return tolerance;
}

Result<size_t> rightChoice(const LiveStep& step)
{
    std::optional<size_t> right;
    const auto& choices = step.question().choices;
    for (size_t i = 0; i < choices.size(); ++i) {
        QS_TRY(const bool holds, evaluateTruth(choices[i].right, step.judged()));
        if (holds && right)
            return badInput(
                "choices " + std::to_string(*right + 1) + " and " + std::to_string(i + 1) + " are both right");
        if (holds)
            right = i;
    }
    if (!right)
        return badInput("no choice is right");
    return *right;
}

Result<JudgedAnswer> judge(LiveStep& step, const LessonAnswer& answer, LessonSnapshots& snapshots)
{
    const QuestionKind kind = step.question().kind;
    if (isNumber(kind)) { // what cannot be read is said before anything runs
        QS_CHECK(typedNumber(answer.text, step.question().unit));
    }
    QS_CHECK(step.run(snapshots));
    if (isNumber(kind))
        return judgeNumber(step, answer.text);
    if (kind == QuestionKind::Choice)
        return judgeChoice(step, answer.text);
    if (kind == QuestionKind::Pick)
        return judgePick(step, answer.text);
    return kind == QuestionKind::Reach ? judgeRecipe(step, answer.recipe, snapshots)
                                       : judgeRepair(step, answer, snapshots);
}

Result<LessonAnswer> referenceAnswer(LiveStep& step, LessonSnapshots& snapshots)
{
    QS_CHECK(step.run(snapshots));
    const LessonQuestion& question = step.question();
    LessonAnswer answer;
    if (isNumber(question.kind)) {
        QS_TRY(const double reference, evaluateNumber(*question.answer, step.judged()));
        answer.text = exactText(reference);
    }
    if (question.pick) {
        QS_TRY(const LessonValue reference, evaluate(question.pick->answer, step.judged()));
        QS_TRY(answer.text, answerText(reference));
        answer.place = answer.text;
    }
    if (!question.choices.empty()) {
        QS_TRY(const size_t right, rightChoice(step));
        (question.kind == QuestionKind::Repair ? answer.cause : answer.text) = std::to_string(right + 1);
    }
    QS_TRY(answer.recipe, step.reference());
    return answer;
}

Result<LessonAnswer> misconceptionAnswer(LiveStep& step, size_t index, LessonSnapshots& snapshots)
{
    QS_TRY(LessonAnswer answer, referenceAnswer(step, snapshots));
    if (isRecipe(step.question().kind)) {
        answer.recipe = step.step().misconceptions[index].recipe;
        return answer;
    }
    QS_TRY(const LessonValue value, misconceptionValue(step, index));
    QS_TRY(answer.text, answerText(value));
    return answer;
}

} // namespace qs
