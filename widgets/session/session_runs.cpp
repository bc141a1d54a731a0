// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the session that opens, runs and shows: files and recipes become snapshots.
#include "core/base/issue_text.h"
#include "core/project/memory.h"
#include "core/project/search/tried_remedies.h"
#include "core/project/snapshot/quantized_example.h"
#include "widgets/models/base/formatting.h"
#include "widgets/session/opening.h"
#include "widgets/session/session.h"

#include <QElapsedTimer>
#include <QScopedValueRollback>

#include <algorithm>
#include <cstdint>

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

SnapshotPtr withWarnings(const SnapshotPtr& snapshot, const std::vector<std::string>& warnings)
{
    if (warnings.empty())
        return snapshot;
    auto noted = std::make_shared<Snapshot>(*snapshot);
    noted->warnings.insert(noted->warnings.end(), warnings.begin(), warnings.end());
    return noted;
}

bool isFloat(const Snapshot& snapshot)
{
    return snapshot.floatModel && snapshot.floatModel->quant->form() == QuantForm::Float;
}

} // namespace

Session::Opening Session::openingOf(const Inputs& inputs) const
{
    Opening opening;
    opening.files = inputs;
    opening.files.recipe.reset();
    opening.otherModels = inputs.floatPath != m_files.floatPath || inputs.quantPath != m_files.quantPath;
    if (!opening.otherModels)
        opening.files.links = m_history.links();
    opening.base
        = opening.otherModels ? RecipeBase { quantscopeRecipe(), ValueOrigin::Preset } : m_history.recipeBase();
    opening.recipe = inputs.recipe ? *inputs.recipe : opening.otherModels ? opening.base.recipe : m_history.recipe();
    return opening;
}

void Session::openInputs(const Inputs& inputs) { open(openingOf(inputs), m_complete); }

void Session::reload() { open(openingOf(m_wanted), std::make_shared<Snapshot>()); }

void Session::open(const Opening& opening, const SnapshotPtr& previous)
{
    m_wanted = opening.files;
    m_opening = true;
    updateEditable(opening.otherModels);
    start(inputsFor(opening.files, opening.recipe, opening.base.recipe), previous, opening);
}

Inputs Session::inputsNow() const
{
    const bool untouched = m_history.recipe() == m_history.base();
    Inputs files = m_files;
    files.links = m_history.links();
    return untouched && !m_presetFits ? files : inputsFor(files, m_history.recipe(), m_history.base());
}

void Session::start(const Inputs& inputs, const SnapshotPtr& previous, const std::optional<Opening>& opening)
{
    const quint64 number = ++m_newest;
    // A recipe that nobody chose is only a suggestion: a model that it does not fit is opened all the same.
    const bool suggested = opening && inputs.recipe && opening->recipe == quantscopeRecipe();
    JobRequest request;
    request.tag = kCompareTag;
    request.title = jobTitle(inputs);
    request.process = [this, inputs, build = m_build, previous, opening, number, suggested](
                          const JobContext& job) -> Result<std::function<void()>> {
        const auto partial = [this, &job, number](SnapshotPtr snapshot) {
            job.post([this, number, snapshot = std::move(snapshot)] {
                if (number == m_newest)
                    publish(snapshot);
            });
        };
        Inputs asked = inputs;
        asked.activationCache = defaultActivationCache();
        QElapsedTimer clock;
        clock.start();
        auto warnings = opening ? opening->warnings : std::vector<std::string>();
        auto built = build(asked, previous, job.progress, job.cancel, partial);
        if (!built && suggested && built.issue().kind != IssueKind::Cancelled) {
            warnings.push_back("the default recipe cannot be applied: " + issueText(built.issue()));
            asked.recipe.reset();
            built = build(asked, previous, job.progress, job.cancel, partial);
        }
        QS_TRY(SnapshotPtr snapshot, std::move(built));
        snapshot = withWarnings(snapshot, warnings);
        const RunNumbers numbers = runNumbers(*snapshot);
        const auto ms = static_cast<double>(clock.elapsed());
        return std::function<void()>([this, snapshot, numbers, previous, opening, number, ms] {
            if (number != m_newest)
                return;
            m_estimate.measured(previous->inputs.recipe, snapshot->inputs.recipe, ms);
            succeed(snapshot, numbers, opening);
        });
    };
    request.failed = [this, number](const Issue& issue) {
        if (number == m_newest)
            fail(issue);
    };
    request.cancelled = [this, number, opening] {
        if (number == m_newest)
            stop(opening);
    };
    m_jobs.cancelTag(kRemediesTag);
    m_jobs.start(std::move(request));
    tellNeedsRun();
}

void Session::succeed(const SnapshotPtr& snapshot, const RunNumbers& numbers, const std::optional<Opening>& opening)
{
    m_opening = false;
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
    m_opening = false;
    m_wanted = m_files;
    updateEditable(false);
    publish(m_complete);
    tellNeedsRun();
    emit failed(issue);
    emit settled();
}

/// The last complete snapshot comes back; numbers so far stay only where there are no others.
void Session::stop(const std::optional<Opening>& opening)
{
    m_opening = false;
    if (opening && !m_complete->comparison && m_snapshot->comparison)
        m_files = opening->files;
    else
        publish(m_complete);
    m_wanted = m_files;
    updateEditable(false);
    tellNeedsRun();
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
    if (m_adopting)
        return;
    if (m_opening) // other data: with the recipe as it is now
        return open(openingOf(m_wanted), m_complete);
    const Inputs inputs = inputsNow();
    if (const SnapshotPtr kept = m_kept.find(inputs)) {
        drop();
        show(kept, std::nullopt);
        emit settled();
        return;
    }
    if (m_autoRun && expectedMs().value_or(0) <= kAutoRunMs) {
        start(inputs, m_complete, std::nullopt);
        return;
    }
    drop();
    publish(m_complete);
    tellNeedsRun();
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

bool Session::needsRun() const
{
    return !busy() && m_complete->floatModel && m_complete->data
        && !(m_complete->inputs.asked() == inputsNow().asked());
}

void Session::run()
{
    if (needsRun())
        start(inputsNow(), m_complete, std::nullopt);
}

void Session::restoreRun(RunId id)
{
    if (const RecipeRun* run = m_runs.tree().find(id))
        m_history.apply(tr("Restore %1").arg(QString::fromStdString(run->name)), Recipe(run->recipe));
}

bool Session::canTryRemedies() const
{
    if (busy() || m_snapshot != m_complete || m_complete == m_tried || !m_complete->comparison || !m_history.editable())
        return false;
    const std::vector<Finding>& findings = m_complete->comparison->findings;
    return std::ranges::any_of(findings, [](const Finding& f) { return canBeTried(f) && !f.measuredGainDb; });
}

void Session::tryRemedies()
{
    if (!canTryRemedies())
        return;
    JobRequest request;
    request.tag = kRemediesTag;
    request.title = tr("Try the remedies of the findings");
    request.process = [this, shown = m_complete](const JobContext& job) -> Result<std::function<void()>> {
        QS_TRY(const SnapshotPtr tried, withTriedRemedies(shown, SIZE_MAX, job.progress, job.cancel));
        if (tried->warnings.size() > shown->warnings.size())
            return badInput(tried->warnings.back(), {}, {});
        return std::function<void()>([this, shown, tried] {
            if (m_complete != shown || m_snapshot != shown)
                return;
            m_complete = m_tried = tried;
            m_kept.keep(tried);
            publish(tried);
        });
    };
    request.failed = [this](const Issue& issue) { emit failed(issue); };
    m_jobs.start(std::move(request));
}

void Session::cancel() { m_jobs.cancelTag(kCompareTag); }

void Session::adopt(const Opening& opening, const Snapshot& snapshot)
{
    const QScopedValueRollback guard(m_adopting, true);
    m_files = opening.files;
    m_wanted = m_files;
    m_presetFits = snapshot.inputs.recipe.has_value() || !m_files.quantPath.empty() || m_files.data.spec.empty();
    if (opening.otherModels) {
        m_history.reset(opening.base);
        m_history.resumeLinks(opening.files.links);
        m_runs.restore(opening.runs);
        m_fileMarks = opening.marks;
        m_kept.clear();
        m_estimate.forget();
    }
    if (!(opening.recipe == m_history.recipe()))
        m_history.resume(opening.recipe);
    m_complete = std::make_shared<Snapshot>(snapshot);
    updateEditable(false);
}

void Session::updateEditable(bool opening)
{
    const QScopedValueRollback guard(m_adopting, true);
    m_history.setEditable(!opening && isFloat(*m_complete)
        && (m_files.quantPath.empty() || m_history.baseOrigin() == ValueOrigin::Imported));
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
    tellNeedsRun();
}

void Session::readRecipe()
{
    const SnapshotPtr shown = m_complete;
    if (shown->inputs.quantPath.empty() || !isFloat(*shown) || !shown->quantModel
        || m_history.baseOrigin() == ValueOrigin::Imported)
        return;
    JobRequest request;
    request.tag = QStringLiteral("recipe");
    request.title = tr("Read the recipe of %1").arg(fileName(shown->inputs.quantPath));
    request.visibility = Visibility::Hidden;
    request.process = [this, shown](const JobContext&) -> Result<std::function<void()>> {
        QS_TRY(const ReadBack back, readExample(*shown));
        std::string note = describeReadBack(back);
        for (const std::string& sentence : back.undetermined)
            note += "\n" + sentence;
        return std::function<void()>([this, shown, recipe = recipeWithRanges(back), note = std::move(note)] {
            if (m_opening || m_complete->quantModel->model != shown->quantModel->model)
                return;
            const QScopedValueRollback guard(m_adopting, true);
            m_history.reset({ recipe, ValueOrigin::Imported });
            for (const RecipeRun& run : m_runs.tree().runs())
                if (run.imported) {
                    m_runs.setRecipe(run.id, recipe, QString::fromStdString(note));
                    break;
                }
            updateEditable(false);
        });
    };
    m_jobs.start(std::move(request));
}

void Session::findFileBytes()
{
    const RunId run = m_runs.tree().current();
    JobRequest request;
    request.tag = QStringLiteral("size");
    request.title = tr("Find the size of the quantized file");
    request.visibility = Visibility::Hidden;
    request.process = [this, run, shown = m_complete](const JobContext&) -> Result<std::function<void()>> {
        const auto bytes = quantizedFileBytes(*shown);
        return std::function<void()>([this, run, bytes] {
            if (bytes)
                m_runs.setFileBytes(run, *bytes);
        });
    };
    m_jobs.start(std::move(request));
}

void Session::tellNeedsRun()
{
    const bool needs = needsRun();
    if (needs == m_neededRun)
        return;
    m_neededRun = needs;
    emit needsRunChanged(needs);
}

} // namespace qs
