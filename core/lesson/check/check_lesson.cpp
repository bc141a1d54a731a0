// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/lesson/check/check_lesson.h"

#include "core/base/issue_text.h"
#include "core/lesson/check/hint_check.h"
#include "core/lesson/check/own_step.h"
#include "core/lesson/file/read_lesson.h"
#include "core/lesson/live/own_pair.h"

#include <algorithm>
#include <filesystem>
#include <set>

namespace qs {

namespace {

/// All that is tried with one step for one seed. What is wrong is an issue without a file.
class StepTrial {
public:
    StepTrial(LiveStep& step, LessonSnapshots& snapshots, LessonCheck& check)
        : m_step(step)
        , m_snapshots(snapshots)
        , m_check(check)
    {
    }

    Status whole()
    {
        if (m_step.index() == 0) {
            QS_CHECK(prefixed("the introduction: ", m_step.introduction()));
        }
        QS_CHECK(prefixed("its text: ", m_step.text()));
        if (const std::string& name = m_step.step().setup.select; !name.empty() && !m_step.now().knows(name))
            return badInput("what it selects, '" + name + "', is in neither model");
        if (m_step.step().question) {
            QS_CHECK(question());
        }
        QS_CHECK(m_step.run(m_snapshots));
        return prefixed("its explanation: ", m_step.explanation());
    }

private:
    template <class T> static Status prefixed(const std::string& prefix, Result<T> result)
    {
        if (result.ok())
            return {};
        Issue issue = std::move(result).issue();
        issue.what = prefix + issue.what;
        return issue;
    }

    Status question()
    {
        QS_CHECK(prefixed("its question: ", m_step.questionText()));
        QS_CHECK(prefixed("what it runs: ", m_step.run(m_snapshots)));
        auto reference = referenceAnswer(m_step, m_snapshots);
        if (!reference.ok())
            return prefixed("its answer: ", std::move(reference));
        QS_CHECK(judged(*reference, true, "the reference answer"));
        QS_TRY(const auto others, perturbedAnswers(m_step, m_snapshots));
        for (const LessonAnswer& other : others)
            QS_CHECK(judged(other, false, "a wrong answer near to it"));
        for (size_t i = 0; i < m_step.step().misconceptions.size(); ++i)
            QS_CHECK(misconception(i));
        return hints(*reference);
    }
    Status judged(const LessonAnswer& answer, bool right, const std::string& which)
    {
        ++m_check.answers;
        auto found = judge(m_step, answer, m_snapshots);
        if (!found.ok())
            return prefixed(which + " cannot be judged: ", std::move(found));
        if (found->right == right)
            return {};
        return badInput(which + " '" + said(answer) + "' " + (right ? "fails: " + found->why : "passes"));
    }
    Status misconception(size_t index)
    {
        const std::string which = "misconception " + std::to_string(index + 1);
        auto answer = misconceptionAnswer(m_step, index, m_snapshots);
        if (!answer.ok())
            return prefixed(which + ": ", std::move(answer));
        QS_CHECK(judged(*answer, false, which));
        return prefixed("what " + which + " shows: ", m_step.misconceptionText(index, m_snapshots));
    }
    Status hints(const LessonAnswer& reference)
    {
        for (size_t i = 0; i < m_step.step().hints.size(); ++i) {
            const std::string which = "hint " + std::to_string(i + 1);
            auto hint = m_step.hint(i);
            if (!hint.ok())
                return prefixed(which + ": ", std::move(hint));
            QS_TRY(const std::string why, givenAway(m_step, reference, *hint));
            if (!why.empty())
                return badInput(which + " " + why);
        }
        return {};
    }
    static std::string said(const LessonAnswer& answer)
    {
        return answer.recipe.is_null() ? answer.text
                                       : answer.recipe.dump(-1, ' ', false, LessonJson::error_handler_t::replace);
    }

    LiveStep& m_step;
    LessonSnapshots& m_snapshots;
    LessonCheck& m_check;
};

Status tryStep(const Lesson& lesson, size_t index, LessonSnapshots& snapshots, LessonCheck& check)
{
    ++check.steps;
    if (lesson.steps[index].own()) {
        QS_TRY(OwnStep own, ownStep(lesson, index, snapshots));
        if (!own.skipped.empty())
            return badInput("it is not asked on the example's models: " + own.skipped);
        return StepTrial(*own.live, snapshots, check).whole();
    }
    auto step = LiveStep::make(lesson, index, snapshots);
    if (!step.ok()) {
        Issue issue = std::move(step).issue();
        issue.what = "its setup does not work: " + issue.what;
        return issue;
    }
    return StepTrial(*step, snapshots, check).whole();
}

/// The bundled example, in the place of a learner's own models.
Inputs examplePair(const std::string& examples)
{
    Inputs inputs;
    inputs.floatPath = examples + "/digits_float.onnx";
    inputs.quantPath = examples + "/digits_qdq.onnx";
    inputs.data.spec = examples + "/digits_samples.npz";
    inputs.data.limit = 100;
    return inputs;
}

} // namespace

Result<LessonCheck> checkLesson(
    const std::string& folder, const std::string& examples, uint64_t seeds, LessonSnapshots& snapshots)
{
    LessonCheck check;
    const std::string name = std::filesystem::path(folder).filename().string();
    const auto wrong = [&](const std::string& step, uint64_t seed, Issue issue) {
        issue.remedy.clear();
        check.problems.push_back({ name, step, seed, issueText(issue) });
    };
    const auto file = readLessonFile(folder, examples);
    if (!file.ok()) {
        wrong({}, 1, file.issue());
        return check;
    }
    std::set<std::string> broken;
    for (uint64_t seed = 1; seed <= seeds; ++seed) {
        ++check.seeds;
        auto read = lessonOf(*file, seed);
        if (!read.ok()) {
            wrong({}, seed, read.issue());
            return check;
        }
        const Lesson whole = withOwn(std::move(read).value(), examplePair(examples));
        const Lesson* const lesson = &whole;
        if (lesson->id != name && seed == 1)
            wrong({}, seed, badInput("its id '" + lesson->id + "' is not its folder's name"));
        for (size_t i = 0; i < lesson->steps.size(); ++i) {
            const std::string& id = lesson->steps[i].id;
            if (broken.contains(id))
                continue;
            const Status tried = tryStep(*lesson, i, snapshots, check);
            if (!tried.ok() && tried.issue().kind == IssueKind::Cancelled)
                return tried.issue();
            if (!tried.ok()) {
                broken.insert(id);
                wrong(id, seed, tried.issue());
            }
        }
        if (lesson->parameters.empty())
            break;
    }
    return check;
}

std::string problemText(const LessonProblem& problem)
{
    return problem.lesson + (problem.step.empty() ? "" : "/" + problem.step) + " (seed " + std::to_string(problem.seed)
        + "): " + problem.what;
}

} // namespace qs
