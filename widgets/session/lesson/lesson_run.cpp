// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/lesson/lesson_run.h"

#include "core/base/issue_text.h"
#include "core/lesson/check/answer_text.h"
#include "core/lesson/check/own_step.h"
#include "core/lesson/file/read_lesson.h"
#include "core/lesson/live/own_pair.h"
#include "widgets/models/base/formatting.h"
#include "widgets/session/lesson/setup_change.h"

#include <algorithm>
#include <cmath>
#include <mutex>

namespace qs {

/// What workers need, one at a time.
struct LessonRun::Desk {
    explicit Desk(Lesson taken)
        : lesson(std::move(taken))
    {
    }
    const Lesson lesson;
    std::mutex mutex;
    LessonSnapshots snapshots; ///< behind the mutex, and so is what follows
    std::optional<LiveStep> live;
};

namespace {

const QString kTag = QStringLiteral("lesson");

bool needsSample(const QString& view)
{
    return view == QStringLiteral("arithmetic") || view == QStringLiteral("values")
        || view == QStringLiteral("samples");
}

/// The answer as the results keep it.
LessonJson triedText(const LessonQuestion& question, const LessonAnswer& answer)
{
    if (question.kind == QuestionKind::Reach)
        return recipeText(answer.recipe);
    if (question.kind == QuestionKind::Repair)
        return LessonJson::array({ answer.cause, answer.place, recipeText(answer.recipe) });
    return answer.text;
}

/// A sentence has one full stop, whether it ends with a choice's, which has its own, or not.
QString withStop(const QString& text)
{
    return text.endsWith(u'.') || text.endsWith(u'?') || text.endsWith(u'!') ? text : text + u'.';
}

struct Judged {
    JudgedAnswer answer;
    std::string shows, explanation;
    std::optional<LessonSetup> run; ///< what the session shows now
    LessonJson recipe;
};

Result<Judged> judged(LiveStep& live, const LessonAnswer& answer, LessonSnapshots& snapshots)
{
    Judged made;
    QS_TRY(made.answer, judge(live, answer, snapshots));
    if (made.answer.right) {
        QS_TRY(made.explanation, live.explanation());
        made.run = live.question().then;
    } else if (made.answer.misconception) {
        QS_TRY(made.shows, live.misconceptionText(*made.answer.misconception, snapshots));
        const LessonMisconception& wrong = live.step().misconceptions[*made.answer.misconception];
        made.run = wrong.run ? wrong.run : live.question().then;
    }
    return made;
}

/// The texts that a step begins with.
Result<ShownStep> shownAtFirst(const LiveStep& live)
{
    ShownStep shown;
    if (live.index() == 0) {
        QS_TRY(const std::string introduction, live.introduction());
        shown.introduction = toQt(introduction);
    }
    QS_TRY(const std::string text, live.text());
    shown.text = toQt(text);
    if (!live.step().question)
        return shown;
    QS_TRY(const std::string question, live.questionText());
    shown.question = toQt(question);
    for (size_t i = 0; i < live.question().choices.size(); ++i) {
        QS_TRY(const std::string choice, live.choiceText(i));
        shown.choices << toQt(choice);
    }
    return shown;
}

/// The question of a step for the handout.
Result<std::string> printedQuestion(LiveStep& live, bool answers, LessonSnapshots& snapshots)
{
    QS_TRY(const std::string question, live.questionText());
    std::string text = "**" + question + "**\n\n";
    for (size_t i = 0; i < live.question().choices.size(); ++i) {
        QS_TRY(const std::string choice, live.choiceText(i));
        text += std::to_string(i + 1) + ". " + choice + "\n";
    }
    if (!answers)
        return text + "\n\n\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\n\n";
    QS_TRY(const LessonAnswer reference, referenceAnswer(live, snapshots));
    QS_TRY(const JudgedAnswer right, judge(live, reference, snapshots));
    QS_TRY(const std::string explanation, live.explanation());
    return text + "\n\n*" + right.reference + "*\n\n" + explanation + "\n\n";
}

/// One step of the handout.
Result<PrintedStep> printedStep(const Lesson& lesson, size_t index, bool answers, LessonSnapshots& snapshots)
{
    QS_TRY(LiveStep live, LiveStep::make(lesson, index, snapshots));
    PrintedStep printed;
    printed.step = index;
    printed.snapshot = live.now().sharedSnapshot();
    std::string text;
    if (index == 0) {
        QS_TRY(const std::string introduction, live.introduction());
        text = introduction + "\n\n";
    }
    QS_TRY(const std::string body, live.text());
    text += "## " + std::to_string(index + 1) + ". " + live.step().title + "\n\n" + body + "\n\n";
    printed.text = toQt(text);
    if (live.step().question) {
        QS_TRY(const std::string asked, printedQuestion(live, answers, snapshots));
        printed.asked = toQt(asked);
    }
    return printed;
}

} // namespace

LessonRun::LessonRun(Session& session, QObject* parent)
    : QObject(parent)
    , m_session(session)
{
    connect(&session, &Session::settled, this, &LessonRun::select);
    connect(&session, &Session::settled, this, &LessonRun::adoptPair);
    connect(&session.recipe(), &RecipeEdits::recipeChanged, this, [this] {
        if (active())
            emit changed();
    });
}

/// What is under way must not come back to one that is gone.
LessonRun::~LessonRun() { m_session.jobs().cancelTag(kTag); }

const Lesson& LessonRun::lesson() const { return m_desk->lesson; }

const LessonQuestion* LessonRun::question() const
{
    return step().question && m_shown.skipped.isEmpty() ? &*step().question : nullptr;
}

Status LessonRun::begin(const QString& folder, const std::string& examples, const LessonProgress& from)
{
    QS_TRY(Lesson lesson, readLesson(folder.toStdString(), examples, from.seed));
    m_desk = std::make_shared<Desk>(withOwn(std::move(lesson), ownPairOf(*m_session.ownSnapshot())));
    m_folder = folder;
    m_examples = examples;
    m_progress = from;
    m_progress.step = std::min(from.step, m_desk->lesson.steps.size() - 1);
    const size_t own = m_desk->lesson.taught(); // what was said of other models
    std::erase_if(m_progress.done, [own](size_t step) { return step >= own; });
    std::erase_if(m_progress.answers, [own](const auto& entry) { return entry.first >= own; });
    m_clock.start();
    m_session.beginGuest();
    show();
    return {};
}

void LessonRun::leave()
{
    if (!active())
        return;
    m_progress.seconds = result().seconds;
    m_session.jobs().cancelTag(kTag);
    m_desk.reset();
    m_busy = false;
    m_toSelect.reset();
    m_session.endGuest();
    emit changed();
}

void LessonRun::start(const QString& title, Work work)
{
    m_busy = true;
    emit changed();
    JobRequest request;
    request.tag = kTag;
    request.title = title;
    request.visibility = Visibility::Hidden;
    request.process
        = [desk = m_desk, work = std::move(work), this](const JobContext&) -> Result<std::function<void()>> {
        const std::lock_guard guard(desk->mutex);
        auto done = work(*desk);
        if (!done.ok())
            return done.issue();
        return std::function<void()>([this, desk, done = std::move(done).value()] {
            if (desk != m_desk)
                return;
            m_busy = false;
            done();
            emit changed();
        });
    };
    request.failed = [this, desk = m_desk](const Issue& issue) {
        if (desk != m_desk)
            return;
        m_busy = false;
        if (issue.kind == IssueKind::BadUse)
            m_shown.told = toQt(issueText(issue)) + u'.';
        else
            emit failed(issue);
        emit changed();
    };
    m_session.jobs().start(std::move(request));
}

void LessonRun::goTo(size_t step)
{
    if (!active() || step >= lesson().steps.size())
        return;
    m_progress.step = step;
    show();
}

/// The step's texts, then its setup in the session.
void LessonRun::show()
{
    m_shown = {};
    start(tr("Lesson"), [this, index = m_progress.step](Desk& desk) -> Result<std::function<void()>> {
        OwnStep made;
        if (desk.lesson.steps[index].own()) {
            QS_TRY(made, ownStep(desk.lesson, index, desk.snapshots));
        } else {
            QS_TRY(made.live, LiveStep::make(desk.lesson, index, desk.snapshots));
        }
        ShownStep shown;
        desk.live = std::move(made.live);
        if (made.skipped.empty()) {
            QS_TRY(shown, shownAtFirst(*desk.live));
        }
        shown.skipped = toQt(made.skipped);
        return std::function<void()>([this, shown, index, sets = desk.live.has_value()] {
            if (index != m_progress.step)
                return;
            m_shown = shown;
            if (step().question)
                answers().skipped = shown.skipped.toStdString();
            if (!step().question) // one that could not be asked is not done
                m_progress.done.insert(index);
            if (sets)
                setUp();
            emit stepShown();
        });
    });
}

/// Models that are opened while the lesson waits for the learner's.
void LessonRun::adoptPair()
{
    if (!active() || m_busy || !step().own() || lesson().own || m_session.busy())
        return;
    const Snapshot& open = *m_session.snapshot();
    const auto own = ownPairOf(open);
    const auto isOfLesson = [&](const auto& model) { return model.second.floatPath == open.inputs.floatPath; };
    if (!own || std::ranges::any_of(lesson().models, isOfLesson))
        return;
    m_desk = std::make_shared<Desk>(withOwn(lesson(), own));
    show();
}

StepResult& LessonRun::answers()
{
    StepResult& mine = m_progress.answers[m_progress.step];
    mine.step = step().id;
    return mine;
}

void LessonRun::setUp()
{
    if (active())
        apply(step().setup);
}

void LessonRun::apply(const LessonSetup& setup, const LessonJson& changes)
{
    const auto inputs = inputsOf(lesson(), setup, changes);
    if (!inputs.ok())
        return emit failed(inputs.issue());
    m_toSelect = setup;
    m_session.runs().startApart(true); // one step's model is no edit of another's
    changeTo(m_session, *inputs, setupText());
    if (m_session.work() == Session::Work::Settled)
        m_session.runs().startApart(false); // it was there already
    if (!m_session.busy())
        select();
}

/// By this step: the same recipe may be an earlier one's, whose name would tell what was done to it.
void LessonRun::nameRun()
{
    RunList& runs = m_session.runs();
    const RecipeRun* shown = runs.tree().find(runs.tree().current());
    if (shown && !shown->imported)
        runs.rename(shown->id, setupText());
}

QString LessonRun::setupText() const { return tr("Lesson: %1").arg(toQt(step().title)); }

void LessonRun::select()
{
    if (!active() || !m_toSelect || m_session.busy())
        return;
    const LessonSetup setup = *std::exchange(m_toSelect, std::nullopt);
    nameRun();
    Selection& selection = m_session.selection();
    const bool picks = question() && question()->pick && !m_shown.answered;
    const bool within = picks && (question()->pick->what == "channel" || question()->pick->what == "sample");
    if ((picks && (setup.select.empty() || !within)) || (lesson().examination && setup.select.empty()))
        selection.clear(); // what the program suggests, or an earlier step selected, may be the answer
    else if (!setup.select.empty())
        selection.selectByName(setup.select);
    if (needsSample(toQt(setup.view)))
        selection.selectSample(setup.sample);
    if (setup.element && !picks)
        selection.selectElement(ChosenElement { setup.sample, int64_t(*setup.element) });
}

bool LessonRun::moved() const
{
    if (!active() || m_session.busy())
        return false;
    const auto inputs = inputsOf(lesson(), step().setup);
    if (!inputs.ok())
        return false;
    const Inputs& open = m_session.files();
    return open.floatPath != inputs->floatPath || open.quantPath != inputs->quantPath
        || (inputs->recipe && !(*inputs->recipe == m_session.recipe().recipe()));
}

LessonJson LessonRun::changes() const
{
    const auto inputs = inputsOf(lesson(), step().setup);
    if (!inputs.ok() || !inputs->recipe)
        return nullptr;
    return changesSince(*inputs->recipe, m_session.recipe().recipe());
}

void LessonRun::check(const LessonAnswer& answer)
{
    if (!active() || m_busy || !question())
        return;
    start(tr("Judge the answer"), [this, answer](Desk& desk) -> Result<std::function<void()>> {
        QS_TRY(const Judged judgement, judged(*desk.live, answer, desk.snapshots));
        return std::function<void()>([this, judgement, answer] {
            answers().tries.push_back(triedText(*step().question, answer));
            const JudgedAnswer& came = judgement.answer;
            if (came.right) {
                answers().right = true;
                finishStep(true, came.asReference ? std::string() : came.reference, judgement.explanation);
            } else {
                m_shown.told = tr("**Not right:** %1.").arg(toQt(came.why));
                if (!judgement.shows.empty())
                    m_shown.told += QStringLiteral("\n\n") + toQt(judgement.shows);
            }
            if (judgement.run)
                apply(*judgement.run);
        });
    });
}

void LessonRun::finishStep(bool right, const std::string& told, const std::string& explanation)
{
    m_progress.done.insert(m_progress.step);
    m_shown.answered = true;
    m_shown.right = right;
    const bool manyWays = step().question && step().question->condition; // what was reached need not be the reference
    const bool guess = step().question && step().question->kind == QuestionKind::Predict; // within its tolerance
    const QString text = !right ? tr("**The answer:** %1")
        : told.empty()          ? tr("**Right.**")
        : manyWays              ? tr("**Right.** Another way, the lesson's own: %1")
        : guess                 ? tr("**Near enough:** it is %1")
                                : tr("**Right:** %1");
    m_shown.told = text.contains(QStringLiteral("%1")) ? text.arg(withStop(toQt(told))) : text;
    m_shown.explanation = toQt(explanation);
}

void LessonRun::hint()
{
    if (!active() || m_busy || !question() || m_shown.hints.size() >= 3)
        return;
    start(tr("Hint"), [this, number = size_t(m_shown.hints.size())](Desk& desk) -> Result<std::function<void()>> {
        QS_TRY(const std::string text, desk.live->hint(number));
        return std::function<void()>([this, text, number] {
            m_shown.hints << toQt(text);
            answers().hints = std::max(answers().hints, number + 1);
        });
    });
}

void LessonRun::showMe()
{
    if (!active() || m_busy || !question() || m_shown.answered)
        return;
    start(tr("Show the answer"), [this](Desk& desk) -> Result<std::function<void()>> {
        QS_TRY(const LessonAnswer reference, referenceAnswer(*desk.live, desk.snapshots));
        QS_TRY(const Judged judgement, judged(*desk.live, reference, desk.snapshots));
        return std::function<void()>([this, judgement, reference] {
            answers().shown = true;
            finishStep(false, judgement.answer.reference, judgement.explanation);
            if (judgement.run)
                apply(*judgement.run);
            else if (!reference.recipe.is_null())
                apply(step().setup, reference.recipe);
        });
    });
}

Status LessonRun::startAgain(uint64_t seed)
{
    QS_TRY(Lesson read, readLesson(m_folder.toStdString(), m_examples, seed));
    m_desk = std::make_shared<Desk>(withOwn(std::move(read), lesson().own));
    m_progress = {};
    m_progress.seed = seed;
    m_clock.start();
    show();
    return {};
}

QStringList LessonRun::changesInWords() const
{
    const auto inputs = inputsOf(lesson(), step().setup);
    if (!inputs.ok() || !inputs->recipe)
        return {};
    return qs::changesInWords(*inputs->recipe, m_session.recipe().recipe());
}

LessonResult LessonRun::result() const
{
    LessonResult result;
    const size_t taught = active() ? lesson().taught() : 0;
    result.complete = active() && doneOf(m_progress, taught) == taught;
    result.seconds = m_progress.seconds + (active() ? std::round(double(m_clock.elapsed())) / 1000 : 0);
    for (const auto& [index, step] : m_progress.answers)
        (active() && index >= taught ? result.yours : result.steps).push_back(step);
    return result;
}

void LessonRun::print(bool answers, std::function<void(const std::vector<PrintedStep>&)> done)
{
    if (!active() || m_busy)
        return;
    start(tr("Print lesson"), [answers, done = std::move(done)](Desk& desk) -> Result<std::function<void()>> {
        std::vector<PrintedStep> steps;
        for (size_t i = 0; i < desk.lesson.taught(); ++i) {
            QS_TRY(PrintedStep step, printedStep(desk.lesson, i, answers, desk.snapshots));
            steps.push_back(std::move(step));
        }
        return std::function<void()>([steps = std::move(steps), done] { done(steps); });
    });
}

} // namespace qs

#include "moc_lesson_run.cpp"
