// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the session that knows what would be lost, and brings back what gave way.
#include "core/onnx/import.h"
#include "widgets/models/base/formatting.h"
#include "widgets/session/session.h"

#include <algorithm>
#include <sys/stat.h>
#include <utility>

namespace qs {

namespace {

/// The files that ranges are found with, beside the data.
std::vector<std::optional<FileStamp>> rangeStamps(const Inputs& files)
{
    std::vector<std::optional<FileStamp>> stamps;
    for (const std::string* path : { &files.calibration.spec, &files.calibration.preprocess, &files.rangesPath }) {
        struct stat info { };
        const bool there = !path->empty() && stat(path->c_str(), &info) == 0;
        stamps.push_back(there ? std::optional(FileStamp(info)) : std::nullopt);
    }
    return stamps;
}

} // namespace

WorkContent Session::content() const
{
    return WorkContent::of(m_open.inputs, { m_history.recipe(), m_history.links() }, m_runs.tree());
}

void Session::setSaved(const QString& project, const WorkContent& content, const std::map<std::string, FileMark>& marks)
{
    m_open.project = project;
    m_open.marks = marks;
    m_saved = content;
    noteWork();
}

void Session::forgetUnsaved() { setSaved(m_open.project, content(), m_open.marks); }

/// Files that are open are work only where a project names them: those of untitled work are in no need of saving.
void Session::noteWork()
{
    WorkContent now = content();
    if (m_saved && m_open.project.isEmpty())
        now.files = m_saved->files;
    m_unsaved = !m_setAside && (!m_saved || !(now == *m_saved));
    emit workChanged();
}

/// Numbers of runs that were made of files which have changed since they were read. Other data tell themselves apart.
void Session::forgetChanged(const Opening& opening)
{
    auto ranges = rangeStamps(opening.files);
    if (opening.anew && !opening.otherModels) {
        const auto& base = m_complete->floatFile;
        m_runs.forgetNumbers((!base || unchanged(filesOf(*base->model))) && ranges == m_open.ranges);
    }
    m_open.ranges = std::move(ranges);
}

/// What is open now, to be opened again.
Opening Session::formerOpening() const
{
    Opening former;
    former.files = m_open.inputs;
    former.files.links = m_history.links();
    former.otherModels = true;
    former.recipe = m_history.recipe();
    former.base = m_history.recipeBase();
    former.runs = m_runs.tree();
    former.marks = m_open.marks;
    former.otherwise = m_open.otherwise;
    former.project = m_open.project;
    former.projectHash = m_open.projectHash;
    former.unsaved = m_unsaved;
    former.steps = m_history.steps();
    former.asGiven = true;
    return former;
}

/// What gives way to `next`, which is no former any more.
void Session::noteFormer(const Opening& next)
{
    constexpr size_t kMost = 8;
    if (next.former && *next.former < m_formers.size())
        m_formers.erase(m_formers.begin() + std::ptrdiff_t(*next.former));
    m_formers.insert(m_formers.begin(), formerOpening());
    m_formers.resize(std::min(m_formers.size(), kMost));
}

void Session::openFormer(size_t i)
{
    if (i >= m_formers.size())
        return;
    Opening former = m_formers[i];
    const Inputs& now = m_open.inputs;
    if (former.files.floatPath == now.floatPath && former.files.quantPath == now.quantPath)
        former = openingOf(former.files); // the recipe is the same work and goes on
    former.former = i;
    open(former);
}

void Session::beginGuest()
{
    if (m_setAside)
        return;
    KeptSession kept;
    kept.files = m_open;
    kept.work = formerOpening();
    kept.saved = m_saved;
    kept.complete = m_complete;
    kept.opening = m_opening;
    kept.running = work() == Work::Running;
    kept.formers = m_formers;
    kept.place = m_selection.current();
    kept.metric = m_metric;
    m_setAside = std::move(kept);
    m_open.project.clear(); // or saving would put the guest's recipe into it
    drop();
    m_opening.reset();
    publish(m_complete);
    noteWork();
}

void Session::endGuest()
{
    if (!m_setAside)
        return;
    const KeptSession kept = *m_setAside;
    drop();
    m_opening.reset();
    m_undescribed.reset();
    m_reread.reset();
    m_swapped.reset();
    m_open = kept.files;
    m_formers = kept.formers;
    m_history.reset(kept.work.base);
    m_history.resumeLinks(kept.work.files.links);
    if (!(kept.work.recipe == m_history.recipe()))
        m_history.resume(kept.work.recipe);
    m_history.resumeSteps(kept.work.steps);
    m_runs.restore(kept.work.runs);
    m_kept.clear();
    m_estimate.forget();
    m_complete = kept.complete;
    if (m_complete->comparison)
        m_kept.keep(m_complete);
    m_saved = kept.saved;
    m_setAside.reset();
    updateEditable(false);
    publish(m_complete);
    setMetric(kept.metric);
    m_selection.replace(kept.place);
    tellWork();
    noteWork();
    emit settled();
    if (kept.opening)
        begin(*kept.opening, m_complete);
    else if (kept.running)
        run();
}

void Session::holdSwapped()
{
    m_swapped = std::exchange(m_opening, std::nullopt);
    updateEditable(false);
    publish(m_complete);
    tellWork();
    const QString first = fileName(m_swapped->files.floatPath), second = fileName(m_swapped->files.quantPath);
    emit filesSwapped(
        badInput(tr("the model given as float, %1, is quantized, and the one given as quantized, %2, is not")
                     .arg(first, second)
                     .toStdString(),
            {}, tr("swap them, or open them as they were given").toStdString()));
    emit settled();
    const std::optional<Opening> held = m_swapped;
    if (m_swapped)
        m_swapped->editedMeanwhile = false;
    catchUp(held);
}

void Session::openSwapped()
{
    if (!m_swapped)
        return;
    Opening opening = *std::exchange(m_swapped, std::nullopt);
    std::swap(opening.files.floatPath, opening.files.quantPath);
    open(opening);
}

void Session::openAsGiven()
{
    if (!m_swapped)
        return;
    Opening opening = *std::exchange(m_swapped, std::nullopt);
    opening.asGiven = true;
    open(opening);
}

} // namespace qs
