// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/lesson/check/answer_text.h"
#include "core/lesson/check/judge.h"

#include <cmath>

namespace qs {

namespace {

/// The number of another choice than this one, for each.
std::vector<std::string> otherChoices(const LessonQuestion& question, const std::string& right)
{
    std::vector<std::string> others;
    for (size_t i = 1; i <= question.choices.size(); ++i)
        if (std::to_string(i) != right)
            others.push_back(std::to_string(i));
    return others;
}

/// A name that is another thing of the same kind; empty where there is none.
std::string otherName(const LiveStep& step, const std::string& right)
{
    const LessonPick& pick = *step.question().pick;
    const Comparison& found = *step.judged().snapshot().comparison;
    std::vector<std::string> names;
    if (pick.what == "channel" || pick.what == "sample")
        return exactText(std::stod(right) + 1);
    for (const ActivationRow& row : found.activations)
        names.push_back(pick.what == "node" ? row.node : row.name);
    if (pick.what == "weight") {
        names.clear();
        for (const WeightRow& row : found.weights)
            names.push_back(row.name);
    }
    for (const std::string& name : names)
        if (!name.empty() && !step.judged().sameThing(pick.what, name, right)
            && !step.judged().equallyExtreme(pick.answer, name))
            return name;
    return {};
}

Result<std::vector<LessonAnswer>> otherNumbers(const LiveStep& step, LessonAnswer answer)
{
    QS_TRY(const double reference, evaluateNumber(*step.question().answer, step.judged()));
    QS_TRY(const double tolerance, toleranceOf(step, reference));
    const bool exact = tolerance <= 1e-8 * std::max(1.0, std::fabs(reference));
    const double away = exact ? std::max(1.0, std::fabs(reference) * 0.01) : tolerance * 1.5;
    std::vector<LessonAnswer> others;
    for (const double sign : { -1.0, 1.0 }) {
        answer.text = exactText(reference + sign * away);
        others.push_back(answer);
    }
    return others;
}

} // namespace

Result<std::vector<LessonAnswer>> perturbedAnswers(LiveStep& step, LessonSnapshots& snapshots)
{
    QS_TRY(const LessonAnswer right, referenceAnswer(step, snapshots));
    const LessonQuestion& question = step.question();
    if (question.answer)
        return otherNumbers(step, right);
    std::vector<LessonAnswer> others;
    const auto add = [&](std::string LessonAnswer::*member, const std::string& value) {
        LessonAnswer other = right;
        other.*member = value;
        others.push_back(other);
    };
    const bool repair = question.kind == QuestionKind::Repair;
    for (const std::string& choice : otherChoices(question, repair ? right.cause : right.text))
        add(repair ? &LessonAnswer::cause : &LessonAnswer::text, choice);
    if (question.pick)
        if (const std::string name = otherName(step, repair ? right.place : right.text); !name.empty())
            add(repair ? &LessonAnswer::place : &LessonAnswer::text, name);
    if (question.condition) {
        LessonAnswer unchanged = right;
        unchanged.recipe = LessonJson::object();
        others.push_back(unchanged);
    }
    return others;
}

} // namespace qs
