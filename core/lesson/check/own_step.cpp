// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/lesson/check/own_step.h"

#include "core/base/issue_text.h"
#include "core/lesson/check/judge.h"

namespace qs {

namespace {

std::string sentence(const Issue& issue) { return issueText(issue) + "."; }

/// Why a question that has an answer is not asked; empty: it is.
Result<std::string> unasked(LiveStep& live, LessonSnapshots& snapshots)
{
    auto reference = referenceAnswer(live, snapshots);
    if (!reference.ok())
        return badInput("your models have nothing to answer with: " + reference.issue().what);
    if (!live.question().condition)
        return std::string();
    QS_TRY(const bool already, evaluateTruth(*live.question().condition, *live.asChanged()));
    if (already)
        return std::string("Your models have reached already what would be asked.");
    QS_TRY(const JudgedAnswer judged, judge(live, *reference, snapshots));
    return std::string(judged.right ? "" : "What helps in this lesson does not reach what would be asked here.");
}

} // namespace

Result<OwnStep> ownStep(const Lesson& lesson, size_t index, LessonSnapshots& snapshots)
{
    OwnStep made;
    if (!lesson.own) {
        made.skipped = "No models of your own are open: a float model, its quantized model and samples for both.";
        return made;
    }
    auto live = LiveStep::make(lesson, index, snapshots);
    if (!live.ok() && live.issue().kind == IssueKind::Cancelled)
        return live.issue();
    if (!live.ok()) {
        made.skipped = "This cannot be set up with your models: " + sentence(live.issue());
        if (live.issue().kind == IssueKind::BadInput)
            made.unusable = live.issue();
        return made;
    }
    made.live = std::move(live).value();
    const LessonStep& step = made.live->step();
    if (step.when) {
        const auto holds = evaluateTruth(*step.when, made.live->now()); // what does not exist does not hold
        if (!holds.ok() || !*holds) {
            QS_TRY(made.skipped, made.live->otherwise());
            return made;
        }
    }
    auto why = unasked(*made.live, snapshots);
    if (!why.ok() && why.issue().kind == IssueKind::Cancelled)
        return why.issue();
    made.skipped = why.ok() ? *why : "This is not asked here: " + sentence(why.issue());
    return made;
}

} // namespace qs
