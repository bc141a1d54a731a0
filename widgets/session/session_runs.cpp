// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the session that opens and runs: files and recipes become snapshots.
#include "core/base/issue_text.h"
#include "core/base/work/memory.h"
#include "core/data/arrays/array_file.h"
#include "core/data/open_data.h"
#include "core/project/about/file_order.h"
#include "widgets/models/base/formatting.h"
#include "widgets/session/session.h"

#include <QElapsedTimer>

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <memory>
#include <utility>

namespace qs {

namespace {

QString jobTitle(const Inputs& inputs)
{
    if (inputs.floatPath.empty() && inputs.quantPath.empty())
        return inputs.data.spec.empty() ? Session::tr("Close") : Session::tr("Open %1").arg(fileName(inputs.data.spec));
    if (inputs.recipe)
        return Session::tr("Quantize and compare %1").arg(fileName(inputs.floatPath));
    if (inputs.quantPath.empty() || inputs.floatPath.empty())
        return Session::tr("Open %1").arg(fileName(inputs.floatPath + inputs.quantPath));
    const auto [floatName, quantName] = fileNames(inputs.floatPath, inputs.quantPath);
    if (inputs.data.spec.empty())
        return Session::tr("Open %1 and %2").arg(floatName, quantName);
    return Session::tr("Compare %1 with %2").arg(floatName, quantName);
}

/// What to build of these files: a recipe that was not touched is that of the quantized file, or waits for data.
Inputs inputsFor(const Inputs& files, const Recipe& recipe, const Recipe& base)
{
    const bool untouched = recipe == base;
    if (files.floatPath.empty() || (untouched && (!files.quantPath.empty() || files.data.spec.empty())))
        return files;
    return byRecipe(files, recipe);
}

/// What a job is to build.
struct BuildTask {
    Inputs inputs;
    SnapshotPtr previous;
    std::optional<Opening> opening; ///< of which `inputs` are made
    Inputs open; ///< before
    bool suggested() const { return opening && opening->recipe == quantscopeRecipe(); }
    /// Saved or kept work, or files that are read again: what the recipe says may not fit, and opens as a draft.
    bool ofWork() const
    {
        return opening && (opening->anew || !opening->project.isEmpty() || !opening->recovered.isEmpty());
    }
    /// Numbers of the models are there: other data take their place with numbers of their own, or not at all.
    bool replacesNumbers() const { return opening && !opening->otherModels && !opening->anew && previous->comparison; }
};

struct Built {
    SnapshotPtr snapshot;
    Inputs files; ///< of the opening, as far as they could be opened
    std::vector<Issue> refused; ///< those that could not
    std::optional<Issue> withoutRecipe; ///< as of Opening
    bool presetFits = true; ///< as of OpenFiles
};

bool isAbout(const Issue& issue, const std::string& path)
{
    return !path.empty() && (issue.file == path || issue.file.starts_with(path + "/"));
}

/// Data are read with the float model; without one at least their file is looked at.
Status checkWaiting(const Inputs& files)
{
    const DataRequest& data = files.data;
    std::error_code none;
    if (!files.floatPath.empty() || data.spec.empty() || data.spec.starts_with("random:")
        || std::filesystem::is_directory(data.spec, none) || textPositions(data) > 0)
        return {};
    QS_TRY(const ArrayArchive file, ArrayArchive::open(data.spec));
    return {};
}

/// Leaves out the file that cannot be opened, where it is one of several that are opened; what it was to replace stays.
/// What is read with a float model is new wherever that is, also where it was chosen before.
bool leaveOut(const Issue& issue, const Inputs& open, bool modelsStay, Inputs* files)
{
    using Part = std::string& (*)(Inputs&);
    constexpr size_t kFirstBeside = 3; ///< of the parts, that is no model
    static constexpr std::array<Part, 7> kParts { [](Inputs& in) -> std::string& { return in.floatPath; },
        [](Inputs& in) -> std::string& { return in.quantPath; },
        [](Inputs& in) -> std::string& { return in.other.path; },
        [](Inputs& in) -> std::string& { return in.data.spec; },
        [](Inputs& in) -> std::string& { return in.calibration.spec; },
        [](Inputs& in) -> std::string& { return in.classNamesPath; },
        [](Inputs& in) -> std::string& { return in.mapPath; } };
    Inputs before = open;
    if (open.floatPath.empty() || files->floatPath != open.floatPath)
        for (size_t i = kFirstBeside; i < kParts.size(); ++i)
            kParts[i](before).clear();
    const auto isNew = [&](Part part) { return !part(*files).empty() && part(*files) != part(before); };
    if (std::ranges::count_if(kParts, isNew) < 2)
        return false;
    for (size_t i = modelsStay ? 2 : 0; i < kParts.size(); ++i) {
        if (!isNew(kParts[i]) || !isAbout(issue, kParts[i](*files)))
            continue;
        const bool goesOn = i > 0 && files->floatPath == open.floatPath;
        kParts[i](*files) = goesOn ? kParts[i](before) : std::string();
        return true;
    }
    return false;
}

Result<Built> carriedOut(BuildTask task, const BuildFn& build, const JobContext& job, const PartialFn& partial)
{
    Built made;
    std::vector<std::string> warnings;
    if (task.opening) {
        made.files = task.opening->files;
        for (const Issue& issue : task.opening->changed)
            warnings.push_back(issueText(issue));
    }
    Inputs asked = task.inputs;
    const auto tryIt = [&]() -> Result<SnapshotPtr> {
        QS_CHECK(checkWaiting(asked));
        asked.activationCache = defaultActivationCache();
        return build(asked, task.previous, job.progress, job.cancel, partial);
    };
    auto built = tryIt();
    const auto failed = [&] { return !built && built.issue().kind != IssueKind::Cancelled; };
    while (task.opening && failed()) {
        if (asked.recipe && !task.replacesNumbers()
            && (task.suggested() || task.ofWork())) { // it is to blame, if the files can be opened alone
            const Issue withRecipe = built.issue();
            asked = made.files;
            built = tryIt();
            if (built) {
                const bool suggested = task.suggested();
                warnings.push_back((suggested ? "the default recipe cannot be applied: "
                                              : "the recipe cannot be applied as it is, and is open as a draft: ")
                    + issueText(withRecipe));
                if (suggested) { // a draft says so itself
                    made.withoutRecipe = withRecipe;
                    made.withoutRecipe->what += "; the files are open without the default recipe";
                }
                made.presetFits = !suggested;
            }
        }
        if (!failed() || !leaveOut(built.issue(), task.open, !task.opening->project.isEmpty(), &made.files))
            break;
        made.refused.push_back(built.issue());
        asked = inputsFor(made.files, task.opening->recipe, task.opening->base.recipe);
        built = tryIt();
    }
    QS_TRY(made.snapshot, std::move(built));
    if (!warnings.empty()) {
        auto noted = std::make_shared<Snapshot>(*made.snapshot);
        noted->warnings.insert(noted->warnings.end(), warnings.begin(), warnings.end());
        made.snapshot = std::move(noted);
    }
    return made;
}

/// One sentence on all of them.
Issue refusal(const std::vector<Issue>& refused)
{
    if (refused.size() == 1) {
        Issue issue = refused.front();
        issue.what += "; the other files are open";
        return issue;
    }
    std::string what = "the other files are open, but not these: ";
    for (const Issue& issue : refused)
        what += (&issue == refused.data() ? "" : "; ") + issueText(issue);
    return badInput(std::move(what));
}

/// What a project says of files that are others now: of those that could be opened.
std::optional<Issue> changeIssue(const Opening& opening)
{
    std::vector<Issue> changed = opening.changed;
    std::erase_if(changed, [&](const Issue& one) {
        return std::ranges::find(opening.refused, one.file, &Issue::file) != opening.refused.end();
    });
    if (changed.empty())
        return std::nullopt;
    Issue issue = changed.front();
    if (changed.size() > 1)
        issue = badInput("these files are not what they were: ");
    for (const Issue& one : changed)
        if (changed.size() > 1)
            issue.what += (&one == changed.data() ? "" : "; ") + issueText(one);
    issue.remedy = "what is shown is of the files as they are now, and numbers of earlier runs on them are left out; "
                   "bring the old ones back and open the project again, or save it to go on";
    return issue;
}

/// The files of what is opened are in each other's place, and nobody said that they shall be.
bool needsOrder(const std::optional<Opening>& opening)
{
    return opening && opening->otherModels && !opening->asGiven && !opening->files.floatPath.empty()
        && !opening->files.quantPath.empty();
}

} // namespace

Opening Session::openingOf(const Inputs& inputs) const
{
    const Inputs& now = m_open.inputs;
    Opening opening;
    opening.files = inputs;
    opening.files.recipe.reset();
    opening.otherModels = inputs.floatPath != now.floatPath || inputs.quantPath != now.quantPath;
    if (!opening.otherModels)
        opening.files.links = m_history.links();
    opening.base
        = opening.otherModels ? RecipeBase { quantscopeRecipe(), ValueOrigin::Preset } : m_history.recipeBase();
    opening.recipe = inputs.recipe ? *inputs.recipe : opening.otherModels ? opening.base.recipe : m_history.recipe();
    return opening;
}

void Session::open(const Opening& opening)
{
    m_swapped.reset();
    const auto go = [this, opening] {
        Opening rest = opening;
        m_undescribed.reset();
        if (m_asksForPictures)
            m_undescribed = takeUndescribed(rest.files, m_open.inputs);
        begin(rest, m_complete);
    };
    if (opening.otherModels && m_unsaved && m_guard)
        return m_guard(go);
    go();
}

void Session::reload()
{
    if (m_opening && m_opening->otherModels) {
        Opening again = *m_opening;
        again.anew = true;
        return begin(again, std::make_shared<Snapshot>());
    }
    Opening opening = openingOf(wantedFiles());
    opening.anew = true;
    opening.rereads = !opening.files.quantPath.empty() && m_history.baseOrigin() == ValueOrigin::Imported;
    if (opening.rereads) {
        opening.base = { quantscopeRecipe(), ValueOrigin::Preset };
        opening.recipe = opening.base.recipe;
    }
    begin(opening, std::make_shared<Snapshot>());
}

void Session::begin(const Opening& opening, const SnapshotPtr& previous)
{
    m_opening = opening;
    updateEditable(opening.otherModels);
    start(inputsFor(opening.files, opening.recipe, opening.base.recipe), previous);
}

Inputs Session::inputsNow() const
{
    const bool untouched = m_history.recipe() == m_history.base();
    Inputs files = m_open.inputs;
    files.links = m_history.links();
    return untouched && !m_open.presetFits ? files : inputsFor(files, m_history.recipe(), m_history.base());
}

void Session::start(const Inputs& inputs, const SnapshotPtr& previous)
{
    const quint64 number = ++m_newest;
    const BuildTask task { inputs, previous, m_opening, m_open.inputs };
    JobRequest request;
    request.tag = kCompareTag;
    request.title = jobTitle(inputs);
    request.process = [this, task, build = m_build, number](const JobContext& job) -> Result<std::function<void()>> {
        const auto shown = std::make_shared<std::atomic<bool>>(true); // the last one; others would pile up behind it
        const auto partial = [this, &job, number, shown](SnapshotPtr snapshot) {
            if (!shown->exchange(false))
                return;
            job.post([this, number, shown, snapshot = std::move(snapshot)] {
                if (number == m_newest)
                    publish(snapshot);
                *shown = true;
            });
        };
        if (needsOrder(task.opening) && swappedFiles(task.inputs.floatPath, task.inputs.quantPath))
            return std::function<void()>([this, number] {
                if (number == m_newest)
                    holdSwapped();
            });
        QElapsedTimer clock;
        clock.start();
        QS_TRY(const Built built, carriedOut(task, build, job, partial));
        const RunNumbers numbers = runNumbers(*built.snapshot);
        const auto ms = static_cast<double>(clock.elapsed());
        return std::function<void()>([this, built, numbers, before = task.previous->inputs.recipe, number, ms] {
            if (number != m_newest)
                return;
            m_estimate.measured(before, built.snapshot->inputs.recipe, ms);
            if (m_opening) {
                m_opening->files = built.files;
                m_opening->presetFits = built.presetFits;
                m_opening->withoutRecipe = built.withoutRecipe;
                m_opening->refused.insert(m_opening->refused.end(), built.refused.begin(), built.refused.end());
            }
            succeed(built.snapshot, numbers);
        });
    };
    request.failed = [this, number](const Issue& issue) {
        if (number == m_newest)
            fail(issue);
    };
    request.cancelled = [this, number] {
        if (number == m_newest)
            stop();
    };
    m_jobs.cancelTag(kRemediesTag);
    m_jobs.start(std::move(request));
    tellWork();
}

void Session::succeed(const SnapshotPtr& snapshot, const RunNumbers& numbers)
{
    const std::optional<Opening> opening = std::exchange(m_opening, std::nullopt);
    const bool untouched = !m_unsaved;
    if (opening)
        adopt(*opening, *snapshot);
    if (opening && opening->otherModels)
        m_runs.nameData(numbers.measuredOn);
    show(snapshot, numbers);
    if (opening)
        tellOpened(*opening, untouched);
    emit settled();
    if (opening && m_undescribed)
        emit picturesUndescribed(*std::exchange(m_undescribed, std::nullopt));
}

/// What opening brought without anybody's doing is no work; other files of a project are.
void Session::tellOpened(const Opening& opening, bool untouched)
{
    if (opening.otherModels ? !opening.unsaved : untouched && m_saved) {
        WorkContent now = content();
        if (!opening.otherModels)
            now.files = m_saved->files;
        setSaved(m_open.project, now, m_open.marks);
    }
    readRecipe();
    if (!opening.layout.isEmpty())
        emit layoutFound(opening.layout);
    if (!opening.recovered.isEmpty())
        emit recovered(opening.recovered);
    else if (!opening.project.isEmpty())
        emit projectOpened(opening.project);
    const std::optional<Issue> changed = changeIssue(opening);
    std::optional<Issue> issue
        = opening.refused.empty() ? opening.withoutRecipe : std::optional(refusal(opening.refused));
    if (issue) {
        if (!opening.refused.empty() && opening.withoutRecipe)
            issue->what += "; " + issueText(*opening.withoutRecipe);
        if (changed)
            issue->what += "; " + issueText(*changed);
        emit failed(*issue);
    } else if (changed) {
        emit filesChanged(*changed);
    }
}

void Session::fail(const Issue& issue)
{
    m_undescribed.reset();
    const std::optional<Opening> opening = std::exchange(m_opening, std::nullopt);
    updateEditable(false);
    publish(m_complete);
    tellWork();
    emit failed(issue);
    emit settled();
    catchUp(opening);
}

/// The last complete snapshot comes back; numbers so far stay only where there are no others.
void Session::stop()
{
    const std::optional<Opening> opening = std::exchange(m_opening, std::nullopt);
    if (opening && !m_complete->comparison && m_snapshot->comparison)
        m_open.inputs = opening->files;
    else
        publish(m_complete);
    updateEditable(false);
    tellWork();
    emit cancelled();
    emit settled();
    catchUp(opening);
}

void Session::drop()
{
    ++m_newest;
    m_jobs.cancelTag(kCompareTag);
    m_jobs.cancelTag(kRemediesTag);
}

/// What is open stays, and was edited while something else was to take its place.
void Session::catchUp(const std::optional<Opening>& ended)
{
    if (ended && ended->editedMeanwhile && !m_opening)
        recipeEdited();
}

void Session::recipeEdited()
{
    if (m_opening && m_opening->otherModels) { // they come with a recipe of their own
        m_opening->editedMeanwhile = true;
        return;
    }
    if (m_opening && m_opening->anew)
        return reload();
    if (m_opening) { // other data: with the recipe as it is now
        Opening again = openingOf(m_opening->files);
        again.former = m_opening->former;
        again.refused = m_opening->refused;
        return begin(again, m_complete);
    }
    const Inputs inputs = inputsNow();
    if (const SnapshotPtr kept = m_kept.find(inputs)) {
        drop();
        show(kept, std::nullopt);
        emit settled();
        return;
    }
    if (m_autoRun && expectedMs().value_or(0) <= kAutoRunMs) {
        start(inputs, m_complete);
        return;
    }
    drop();
    publish(m_complete);
    tellWork();
}

void Session::setAutoRun(bool on)
{
    if (on == m_autoRun)
        return;
    m_autoRun = on;
    emit autoRunChanged(on);
    if (on && needsRun())
        recipeEdited();
}

std::optional<double> Session::expectedMs() const
{
    const Recipe& before = m_complete->inputs.recipe ? *m_complete->inputs.recipe : m_history.base();
    return m_estimate.expect(before, m_history.recipe());
}

Session::Work Session::work() const
{
    if (busy())
        return m_opening ? Work::Opening : Work::Running;
    const bool runs = m_complete->floatModel && m_complete->data;
    return runs && !(m_complete->inputs.asked() == inputsNow().asked()) ? Work::Waiting : Work::Settled;
}

void Session::run()
{
    if (needsRun())
        start(inputsNow(), m_complete);
}

void Session::restoreRun(RunId id)
{
    if (const RecipeRun* run = m_runs.tree().find(id))
        m_history.apply(tr("Restore %1").arg(QString::fromStdString(run->name)), Recipe(run->recipe));
}

void Session::cancel() { m_jobs.cancelTag(kCompareTag); }

void Session::adopt(const Opening& opening, const Snapshot& snapshot)
{
    const Inputs& before = m_open.inputs;
    const bool anything = !before.floatPath.empty() || !before.quantPath.empty();
    const bool otherData = !(before.data == opening.files.data) || !(before.calibration == opening.files.calibration);
    if (anything && (opening.otherModels || otherData))
        noteFormer(opening);
    forgetChanged(opening);
    m_open.inputs = opening.files;
    m_open.presetFits = opening.presetFits;
    if (opening.otherModels) {
        m_saved.reset();
        m_open.project = opening.project;
        m_open.projectHash = opening.projectHash;
        m_history.reset(opening.base);
        m_history.resumeLinks(opening.files.links);
        m_runs.restore(opening.runs);
        m_open.marks = opening.marks;
        m_open.otherwise = opening.otherwise;
        m_open.toldOtherwise = false;
    }
    m_reread.reset();
    if (opening.rereads) {
        m_open.otherwise.clear();
        m_reread = Reread { m_history.recipe(), m_history.base() };
        m_history.reset(opening.base);
        m_history.resumeLinks(opening.files.links);
    }
    if (opening.reread)
        m_reread = opening.reread;
    if (opening.otherModels || opening.anew) {
        m_kept.clear();
        m_estimate.forget();
        m_jobs.cancelTag(kSizeTag); // of a file that is another one now, or of another run of this number
    }
    if (!(opening.recipe == m_history.recipe()))
        m_history.resume(opening.recipe);
    if (opening.otherModels)
        m_history.resumeSteps(opening.steps);
    m_complete = std::make_shared<Snapshot>(snapshot);
    updateEditable(false);
}

void Session::updateEditable(bool otherModels)
{
    m_history.setEditable(!otherModels && m_complete->floatModel && m_complete->floatModel->isFloat()
        && (m_open.inputs.quantPath.empty() || m_history.baseOrigin() == ValueOrigin::Imported));
}

void Session::show(const SnapshotPtr& complete, const std::optional<RunNumbers>& numbers)
{
    m_complete = complete;
    if (complete->comparison) {
        m_kept.keep(complete);
        const bool imported = !complete->inputs.quantPath.empty();
        const quint64 step = m_history.step();
        const QString name = imported ? fileName(complete->inputs.quantPath)
            : step != 0               ? m_history.stack().undoText()
                                      : tr("Default recipe");
        const auto shown = [&](const std::optional<RunNumbers>& measured) {
            m_runs.show(imported ? m_history.base() : m_history.recipe(), imported, step, name, measured);
            return m_runs.tree().find(m_runs.tree().current());
        };
        const RecipeRun* run = shown(numbers);
        if (!numbers && (!run->numbers || run->numbers->measuredOn != measuredOn(*complete)))
            run = shown(runNumbers(*complete)); // it was measured since on other data, or by another arithmetic
        if (run->numbers && !run->numbers->fileBytes) {
            if (imported) // edits may be done to it at once, and nobody comes back to it
                findFileBytes();
            else
                m_sizeTimer.start();
        }
    }
    publish(complete);
    tellWork();
    tryLater();
}

void Session::tellWork()
{
    const Work before = std::exchange(m_told, work());
    if ((before == Work::Waiting) != (m_told == Work::Waiting))
        emit needsRunChanged(m_told == Work::Waiting);
    tellNumbers();
}

void Session::tellNumbers()
{
    using State = NumbersAge::State;
    const Work now = work();
    const bool moved = m_snapshot->comparison && (now == Work::Waiting || now == Work::Running)
        && !(m_snapshot->inputs.asked() == inputsNow().asked());
    const RecipeRun* run = m_runs.tree().find(m_runs.tree().current());
    m_numbers.tell(!moved          ? State::Now
            : now == Work::Running ? State::Running
                                   : State::Waiting,
        run ? QString::fromStdString(run->name) : QString());
}

} // namespace qs
