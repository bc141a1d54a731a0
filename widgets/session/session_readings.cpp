// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the session that finds out more about what is shown, by jobs of their own.
#include "core/project/files/recipe_rebase.h"
#include "core/project/search/tried_remedies.h"
#include "core/project/snapshot/quantized_example.h"
#include "widgets/models/base/formatting.h"
#include "widgets/session/session.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace qs {

bool Session::canTryRemedies() const
{
    if (busy() || m_snapshot != m_complete || m_complete == m_tried || !m_complete->comparison || !m_history.editable())
        return false;
    const std::vector<Finding>& findings = m_complete->comparison->findings;
    return std::ranges::any_of(findings, [](const Finding& f) { return canBeTried(f) && !f.measuredGainDb; });
}

void Session::tryRemedies() { tryFirst(SIZE_MAX, 0, true); }

void Session::setAutoTry(bool on)
{
    if (on == m_autoTry)
        return;
    m_autoTry = on;
    emit autoTryChanged(on);
    tryLater();
}

void Session::tryLater()
{
    if (m_autoTry)
        m_tryTimer.start();
}

void Session::tryFirst(size_t most, size_t threads, bool asked)
{
    if (!canTryRemedies() || (!asked && m_jobs.running(kRemediesTag)))
        return;
    JobRequest request;
    request.tag = kRemediesTag;
    request.title = tr("Try the remedies of the findings");
    request.process
        = [this, shown = m_complete, most, threads, asked](const JobContext& job) -> Result<std::function<void()>> {
        QS_TRY(const SnapshotPtr tried, withTriedRemedies(shown, most, job.progress, job.cancel, threads));
        if (asked && tried->warnings.size() > shown->warnings.size())
            return badInput(tried->warnings.back(), {}, {});
        return std::function<void()>([this, shown, tried] {
            if (m_complete != shown || m_snapshot != shown)
                return;
            m_complete = m_tried = tried;
            m_kept.keep(tried);
            publish(tried);
        });
    };
    request.failed = [this, asked](const Issue& issue) {
        if (asked)
            emit failed(issue);
    };
    m_jobs.start(std::move(request));
}

void Session::readRecipe()
{
    const SnapshotPtr shown = m_complete;
    if (shown->inputs.quantPath.empty() || !shown->floatModel || !shown->floatModel->isFloat() || !shown->quantModel
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
        return std::function<void()>(
            [this, shown, recipe = recipeWithRanges(back), note = std::move(note), otherwise = back.otherwise] {
                if (m_opening || m_complete->quantModel->model != shown->quantModel->model)
                    return;
                const bool untouched = !m_unsaved;
                m_history.reset({ recipe, ValueOrigin::Imported });
                m_open.otherwise = otherwise;
                m_open.toldOtherwise = false;
                for (const RecipeRun& run : m_runs.tree().runs())
                    if (run.imported) {
                        m_runs.setRecipe(run.id, recipe, QString::fromStdString(note));
                        break;
                    }
                if (untouched)
                    setSaved(m_open.project, content(), m_open.marks);
                updateEditable(false);
                if (m_reread)
                    editAgain(*std::exchange(m_reread, std::nullopt));
                tryLater();
            });
    };
    m_jobs.start(std::move(request));
}

std::optional<Issue> Session::otherModelThanFile(const QString& what) const
{
    if (m_history.baseOrigin() != ValueOrigin::Imported || m_open.otherwise.empty())
        return std::nullopt;
    std::string sentences;
    for (const std::string& sentence : m_open.otherwise)
        sentences += (sentences.empty() ? "" : "; ") + sentence;
    return badInput("the recipe makes another model, since this file does not tell: " + sentences,
        m_open.inputs.quantPath, what.toStdString());
}

/// Once, when numbers of that model take the place of the file's.
void Session::tellOtherwise()
{
    const auto issue = otherModelThanFile(tr("what is shown since the first edit is that model"));
    const bool own = !m_setAside && !m_opening; // numbers so far may be of what is still being opened
    if (issue && own && !std::exchange(m_open.toldOtherwise, true))
        emit told(*issue);
}

void Session::editAgain(const Reread& before)
{
    if (before.edited == before.base)
        return;
    auto next = rebased(before.edited, before.base, m_history.recipe());
    if (!next) {
        emit failed(next.issue());
        return;
    }
    const std::vector<std::string> gone = withoutVanished(*next, m_history.recipe(), m_complete->floatModel->graph());
    if (!(*next == m_history.recipe()))
        m_history.apply(tr("Edits before reloading"), *next);
    if (!gone.empty())
        emit failed(badInput("the models that were read again have no '" + gone.front() + "'"
                + (gone.size() > 1 ? " and " + std::to_string(gone.size() - 1) + " more" : std::string()),
            {}, "what was said of it is left out; Undo has the recipe of the file"));
}

void Session::findFileBytes()
{
    const RunId run = m_runs.tree().current();
    JobRequest request;
    request.tag = kSizeTag;
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

} // namespace qs
