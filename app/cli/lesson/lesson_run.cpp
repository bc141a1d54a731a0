// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/lesson/lesson_options.h"
#include "core/base/issue_text.h"
#include "core/base/text/one_line.h"
#include "core/base/work/memory.h"
#include "core/base/work/stopwatch.h"
#include "core/lesson/check/answer_text.h"
#include "core/lesson/check/judge.h"
#include "core/lesson/check/lesson_result.h"
#include "core/lesson/check/own_step.h"
#include "core/lesson/file/read_lesson.h"
#include "core/lesson/live/own_pair.h"
#include "core/report/report.h"

#include <cmath>
#include <iostream>

namespace qs::cli {

namespace {

constexpr size_t kLongestLine = 20'000;

/// One line of stdin; nothing at its end. What is longer than any answer is cut.
std::optional<std::string> readLine()
{
    std::string line;
    int byte = std::cin.get();
    if (byte == std::char_traits<char>::eof())
        return std::nullopt;
    for (; byte != std::char_traits<char>::eof() && byte != '\n'; byte = std::cin.get())
        if (line.size() < kLongestLine)
            line += char(byte);
    return line;
}

/// What came of one question.
struct StepAnswers : StepResult {
    bool ended = false; ///< the lesson was left here
};

/// A lesson with somebody at the other end of stdin.
class LessonTalk {
public:
    LessonTalk(const Lesson& lesson, LessonSnapshots& snapshots, std::ostream& out)
        : m_lesson(lesson)
        , m_snapshots(snapshots)
        , m_out(out)
    {
    }

    /// Whether it came to the end of the lesson.
    Result<bool> whole()
    {
        for (size_t i = 0; i < m_lesson.taught(); ++i) {
            QS_TRY(LiveStep live, LiveStep::make(m_lesson, i, m_snapshots));
            if (i == 0) {
                QS_CHECK(begin(live));
            }
            QS_TRY(const bool goesOn, step(live, i));
            if (!goesOn)
                return false;
        }
        m_out << "\nThat was the last step.\n";
        if (!m_lesson.yours.empty() && !m_lesson.own)
            m_out << "The same is asked of your own models with --float, --quantized and --data.\n";
        return true;
    }
    /// The same on the learner's own models.
    Status yours()
    {
        size_t unusable = 0;
        for (size_t i = m_lesson.taught(); i < m_lesson.steps.size(); ++i) {
            QS_TRY(OwnStep own, ownStep(m_lesson, i, m_snapshots));
            if (own.skipped.empty()) {
                QS_TRY(const bool goesOn, step(*own.live, i));
                if (!goesOn)
                    return {};
                continue;
            }
            m_out << "\n## Your own models: " << oneLine(m_lesson.steps[i].title) << "\n" << own.skipped << "\n";
            StepResult skipped;
            skipped.step = m_lesson.steps[i].id;
            skipped.skipped = own.skipped;
            m_yours.push_back(skipped);
            if (own.unusable && !m_unusable)
                m_unusable = own.unusable;
            unusable += own.unusable.has_value();
        }
        if (unusable < m_yours.size())
            m_unusable.reset();
        return {};
    }
    const std::vector<StepResult>& results() const { return m_results; }
    const std::vector<StepResult>& ownResults() const { return m_yours; }
    /// Why no step can be set up with the learner's models; nothing where one can.
    const std::optional<Issue>& unusable() const { return m_unusable; }

private:
    Status begin(const LiveStep& first)
    {
        QS_TRY(const std::string introduction, first.introduction());
        m_out << "# " << oneLine(m_lesson.title) << " (" << m_lesson.minutes << " minutes, seed " << m_lesson.seed
              << ")\n"
              << introduction
              << "\nAnswers: ? gives a hint, = shows the answer, : the numbers of the models, : and an expression its "
                 "value, "
                 ". ends the lesson.\n";
        return {};
    }
    Result<bool> step(LiveStep& live, size_t index)
    {
        QS_TRY(const std::string text, live.text());
        const bool own = live.step().own();
        m_out << "\n## "
              << (own ? std::string("Your own models")
                      : std::to_string(index + 1) + " of " + std::to_string(m_lesson.taught()))
              << ": " << oneLine(live.step().title) << "\n"
              << text << std::flush;
        if (!live.step().question)
            return true;
        m_tried.reset();
        QS_TRY(const StepAnswers asked, ask(live));
        (own ? m_yours : m_results).push_back(asked);
        if (asked.ended)
            return false;
        QS_TRY(const std::string explanation, live.explanation());
        m_out << "\n" << explanation << "\n" << std::flush;
        return true;
    }

    Result<StepAnswers> ask(LiveStep& live)
    {
        QS_TRY(const std::string question, live.questionText());
        m_out << "\nQuestion: " << question << "\n";
        for (size_t i = 0; i < live.question().choices.size(); ++i) {
            QS_TRY(const std::string choice, live.choiceText(i));
            m_out << "  " << i + 1 << ") " << choice << "\n";
        }
        StepAnswers asked;
        asked.step = live.step().id;
        while (!asked.right && !asked.shown && !asked.ended)
            QS_CHECK(oneTry(live, asked));
        return asked;
    }

    /// One line, or as many as the kind of question needs.
    Status oneTry(LiveStep& live, StepAnswers& asked)
    {
        LessonAnswer answer;
        LessonJson said = LessonJson::array();
        for (const auto& [member, prompt] : promptsOf(live.question())) {
            m_out << prompt << "> " << std::flush;
            const auto line = readLine();
            const std::string text = line ? trimmedAnswer(*line) : ".";
            if (text == ".") {
                asked.ended = true;
                return {};
            }
            if (text == "?")
                return hint(live, asked);
            if (text == "=")
                return show(live, asked);
            if (text.starts_with(':')) {
                lookUp(live, trimmedAnswer(text.substr(1)));
                return {};
            }
            said.push_back(text);
            if (member) {
                answer.*member = text;
                continue;
            }
            auto changes = recipeChanges(text);
            if (!changes.ok())
                return again(changes.issue());
            answer.recipe = std::move(changes).value();
        }
        asked.tries.push_back(said.size() == 1 ? said.front() : said);
        auto judged = judge(live, answer, m_snapshots);
        if (!judged.ok() && judged.issue().kind != IssueKind::BadUse)
            return judged.issue();
        if (!judged.ok()) {
            asked.tries.erase(asked.tries.size() - 1);
            return again(judged.issue());
        }
        asked.right = judged->right;
        QS_CHECK(tell(live, answer, *judged));
        return tried(live, answer, judged->right);
    }
    /// What a recipe that is not right makes can be looked at until something else is tried.
    Status tried(const LiveStep& live, const LessonAnswer& answer, bool right)
    {
        m_tried.reset();
        if (right || answer.recipe.is_null())
            return {};
        QS_TRY(m_tried, live.changed(answer.recipe, m_snapshots));
        static const Expression reached = *parseExpression("output.sqnr_db");
        const auto value = evaluate(reached, *m_tried);
        const auto shown = value.ok() ? valueText(*value, "fixed 1") : Result<std::string>(value.issue());
        m_out << (shown.ok() ? "The output has " + *shown + " dB with it" : "The output is exact with it")
              << "; : shows its numbers.\n";
        return {};
    }
    /// The table of `compare` for what was tried last, else for what the step shows; or the value of an expression.
    void lookUp(const LiveStep& live, const std::string& text)
    {
        const SnapshotFacts& facts = m_tried ? *m_tried : live.now();
        if (text.empty()) {
            ReportInfo info;
            info.peakMemoryBytes = peakMemoryBytes();
            info.verbose = true;
            m_out << compareTable(facts.snapshot(), info);
            return;
        }
        const auto expression = parseExpression(text);
        const auto value = expression.ok() ? evaluate(*expression, facts) : Result<LessonValue>(expression.issue());
        const auto shown = value.ok() ? valueText(*value) : Result<std::string>(value.issue());
        m_out << (shown.ok() ? *shown : shown.issue().what) << "\n";
    }
    Status tell(LiveStep& live, const LessonAnswer& answer, const JudgedAnswer& judged)
    {
        if (judged.right) {
            const bool own = live.question().kind == QuestionKind::Reach; // there may be many ways
            m_out << "Right: " << (own ? recipeText(answer.recipe) : judged.reference) << "\n";
            return {};
        }
        m_out << "Not right: " << judged.why << ".\n";
        if (judged.misconception) {
            QS_TRY(const std::string shows, live.misconceptionText(*judged.misconception, m_snapshots));
            m_out << shows << "\n";
        }
        return {};
    }
    Status again(const Issue& issue)
    {
        m_out << issueText(issue) << ".\n";
        return {};
    }
    Status hint(const LiveStep& live, StepAnswers& asked)
    {
        if (live.step().hints.empty()) {
            m_out << "There are no hints in this lesson.\n";
            return {};
        }
        const size_t number = std::min<size_t>(asked.hints, 2);
        QS_TRY(const std::string text, live.hint(number));
        asked.hints = number + 1;
        m_out << "Hint " << number + 1 << ": " << text << "\n";
        return {};
    }
    Status show(LiveStep& live, StepAnswers& asked)
    {
        QS_TRY(const LessonAnswer reference, referenceAnswer(live, m_snapshots));
        QS_TRY(const JudgedAnswer judged, judge(live, reference, m_snapshots));
        m_out << "The answer: " << judged.reference << "\n";
        asked.shown = true;
        return {};
    }

    using Prompt = std::pair<std::string LessonAnswer::*, std::string>; ///< null: the recipe
    static std::vector<Prompt> promptsOf(const LessonQuestion& question)
    {
        const Prompt recipe { nullptr, "changes of the recipe, such as activation_type=uint8" };
        switch (question.kind) {
        case QuestionKind::Predict:
            return { { &LessonAnswer::text,
                "your prediction" + (question.unit.empty() ? "" : " in " + question.unit) } };
        case QuestionKind::Number:
            return { { &LessonAnswer::text, "number" + (question.unit.empty() ? "" : " in " + question.unit) } };
        case QuestionKind::Choice:
            return { { &LessonAnswer::text, "choice" } };
        case QuestionKind::Pick:
            return { { &LessonAnswer::text, question.pick->what } };
        case QuestionKind::Reach:
            return { recipe };
        case QuestionKind::Repair:
            return { { &LessonAnswer::cause, "cause" }, { &LessonAnswer::place, question.pick->what }, recipe };
        }
        return {};
    }

    const Lesson& m_lesson;
    LessonSnapshots& m_snapshots;
    std::ostream& m_out;
    std::vector<StepResult> m_results, m_yours;
    std::optional<Issue> m_unusable;
    std::unique_ptr<SnapshotFacts> m_tried; ///< a wrong recipe; of the step that is asked
};

Issue inLesson(Issue issue, const std::string& folder)
{
    if (issue.kind == IssueKind::BadInput && issue.file.empty())
        issue.file = folder;
    return issue;
}

/// What --float, --quantized and --data name; nothing without the first.
Result<std::optional<Inputs>> ownPair(const LessonOptions& o, const CommonOptions& common)
{
    if (o.floatPath.empty() && o.quantPath.empty() && !o.data.given() && !o.yours)
        return std::optional<Inputs>();
    if (o.floatPath.empty() || !o.data.given())
        return badUse("your own models need --float and --data", "name both; --quantized is your quantized model");
    Inputs inputs;
    inputs.floatPath = o.floatPath;
    inputs.quantPath = o.quantPath;
    QS_TRY(inputs.data, dataRequest(o.data, common));
    return std::optional(inputs);
}

} // namespace

Result<int> runLesson(const LessonOptions& o, Context& context)
{
    const CommonOptions& common = context.common;
    QS_TRY(const uint64_t seed, wholeOption("--seed", o.seed, 0, UINT64_MAX));
    QS_TRY(const LessonPlaces places, placesOf(o));
    QS_TRY(const auto folders, foldersOf(o, places));
    if (folders.size() != 1)
        return badUse("'" + oneLine(o.which.front(), 80) + "' holds several lessons", "name one of them");
    FileRoles files;
    addFilesOf(files, common);
    files.readsBelow(folders.front(), "a file of the lesson", [](std::string_view) { return true; });
    addFilesOf(files, o.data);
    files.reads(o.floatPath, "the float model");
    files.reads(o.quantPath, "the quantized model");
    QS_CHECK(checkFiles(files));
    QS_TRY(const auto own, ownPair(o, common));
    QS_TRY(Lesson read, readLesson(folders.front(), places.examples, seed));
    const Lesson lesson = own ? withOwn(std::move(read), own) : std::move(read);
    QS_TRY(LessonSnapshots snapshots, snapshotsOf(context));
    const Stopwatch watch;
    LessonTalk talk(lesson, snapshots, common.json == "-" ? std::cerr : std::cout);
    auto complete = o.yours ? Result<bool>(false) : talk.whole();
    if (!complete.ok())
        return inLesson(complete.issue(), folders.front());
    if (*complete || o.yours)
        if (const Status yours = talk.yours(); !yours.ok())
            return inLesson(yours.issue(), folders.front());
    if (!common.json.empty()) {
        const LessonJson json
            = resultJson(lesson, { *complete, std::round(watch.ms()) / 1000, talk.results(), talk.ownResults() });
        QS_CHECK(writeOutput(common.json, json.dump(2, ' ', false, LessonJson::error_handler_t::replace) + "\n"));
    }
    if (talk.unusable())
        return *talk.unusable();
    return int(kDone);
}

} // namespace qs::cli
