// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the session that opens and runs: files and recipes become snapshots.
#include "core/base/issue_text.h"
#include "core/base/work/memory.h"
#include "widgets/models/base/formatting.h"
#include "widgets/session/session.h"

#include <QElapsedTimer>

#include <utility>

namespace qs {

namespace {

QString jobTitle(const Inputs& inputs)
{
    if (inputs.floatPath.empty() && inputs.quantPath.empty())
        return Session::tr("Close");
    if (inputs.recipe)
        return Session::tr("Quantize and compare %1").arg(fileName(inputs.floatPath));
    if (inputs.quantPath.empty() || inputs.floatPath.empty())
        return Session::tr("Open %1").arg(fileName(inputs.floatPath + inputs.quantPath));
    if (inputs.data.spec.empty())
        return Session::tr("Open %1 and %2").arg(fileName(inputs.floatPath), fileName(inputs.quantPath));
    return Session::tr("Compare %1 with %2").arg(fileName(inputs.floatPath), fileName(inputs.quantPath));
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
    std::vector<std::string> warnings; ///< of what was looked at before
    bool suggested = false; ///< nobody chose the recipe: a model that it does not fit is opened all the same
};

Result<SnapshotPtr> carriedOut(
    const BuildTask& task, const BuildFn& build, const JobContext& job, const PartialFn& partial)
{
    Inputs asked = task.inputs;
    asked.activationCache = defaultActivationCache();
    auto warnings = task.warnings;
    auto built = build(asked, task.previous, job.progress, job.cancel, partial);
    if (!built && task.suggested && built.issue().kind != IssueKind::Cancelled) {
        warnings.push_back("the default recipe cannot be applied: " + issueText(built.issue()));
        asked.recipe.reset();
        built = build(asked, task.previous, job.progress, job.cancel, partial);
    }
    if (!built || warnings.empty())
        return built;
    auto noted = std::make_shared<Snapshot>(**built);
    noted->warnings.insert(noted->warnings.end(), warnings.begin(), warnings.end());
    return SnapshotPtr(std::move(noted));
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

void Session::open(const Opening& opening) { open(opening, m_complete); }

void Session::reload()
{
    Opening opening = openingOf(wantedFiles());
    opening.anew = true;
    open(opening, std::make_shared<Snapshot>());
}

void Session::open(const Opening& opening, const SnapshotPtr& previous)
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
    BuildTask task { inputs, previous, {}, false };
    if (m_opening) {
        task.warnings = m_opening->warnings;
        task.suggested = inputs.recipe && m_opening->recipe == quantscopeRecipe();
    }
    JobRequest request;
    request.tag = kCompareTag;
    request.title = jobTitle(inputs);
    request.process = [this, task, build = m_build, number](const JobContext& job) -> Result<std::function<void()>> {
        const auto partial = [this, &job, number](SnapshotPtr snapshot) {
            job.post([this, number, snapshot = std::move(snapshot)] {
                if (number == m_newest)
                    publish(snapshot);
            });
        };
        QElapsedTimer clock;
        clock.start();
        QS_TRY(const SnapshotPtr snapshot, carriedOut(task, build, job, partial));
        const RunNumbers numbers = runNumbers(*snapshot);
        const auto ms = static_cast<double>(clock.elapsed());
        return std::function<void()>([this, snapshot, numbers, before = task.previous->inputs.recipe, number, ms] {
            if (number != m_newest)
                return;
            m_estimate.measured(before, snapshot->inputs.recipe, ms);
            succeed(snapshot, numbers);
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
    if (opening)
        adopt(*opening, *snapshot);
    show(snapshot, numbers);
    if (opening) {
        readRecipe();
        if (!opening->layout.isEmpty())
            emit layoutFound(opening->layout);
        if (!opening->project.isEmpty())
            emit projectOpened(opening->project);
    }
    emit settled();
}

void Session::fail(const Issue& issue)
{
    m_opening.reset();
    updateEditable(false);
    publish(m_complete);
    tellWork();
    emit failed(issue);
    emit settled();
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
}

void Session::drop()
{
    ++m_newest;
    m_jobs.cancelTag(kCompareTag);
    m_jobs.cancelTag(kRemediesTag);
}

void Session::recipeEdited()
{
    if (m_opening) // other data: with the recipe as it is now
        return openInputs(m_opening->files);
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
    m_open.inputs = opening.files;
    m_open.presetFits
        = snapshot.inputs.recipe.has_value() || !opening.files.quantPath.empty() || opening.files.data.spec.empty();
    if (opening.otherModels) {
        m_history.reset(opening.base);
        m_history.resumeLinks(opening.files.links);
        m_runs.restore(opening.runs);
        m_open.marks = opening.marks;
    }
    if (opening.otherModels || opening.anew) {
        m_kept.clear();
        m_estimate.forget();
    }
    if (!(opening.recipe == m_history.recipe()))
        m_history.resume(opening.recipe);
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
        m_runs.show(m_history.recipe(), imported, step, name, numbers);
        const RecipeRun* run = m_runs.tree().find(m_runs.tree().current());
        if (run->numbers && !run->numbers->fileBytes)
            m_sizeTimer.start();
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
}

} // namespace qs
