// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/session.h"

#include "core/base/files/atomic_file.h"
#include "widgets/models/base/formatting.h"
#include "widgets/session/file_roles.h"
#include "widgets/session/report_file.h"

#include <algorithm>

namespace qs {

namespace {

constexpr int kSizeDelayMs = 400;
constexpr size_t kKeptSnapshots = 16;

} // namespace

Session::Session(BuildFn build, QObject* parent)
    : QObject(parent)
    , m_build(std::move(build))
    , m_snapshot(std::make_shared<Snapshot>())
    , m_complete(m_snapshot)
    , m_kept(kKeptSnapshots)
{
    qRegisterMetaType<SnapshotPtr>();
    qRegisterMetaType<Issue>();
    qRegisterMetaType<Metric>();
    qRegisterMetaType<Place>();
    connect(&m_selection, &Selection::changed, this, [this] {
        if (!m_chosenByUs)
            m_suggested = {};
    });
    connect(&m_history, &RecipeEdits::recipeChanged, this, &Session::recipeEdited);
    connect(&m_history, &RecipeHistory::linksChanged, this, &Session::recipeEdited);
    m_sizeTimer.setSingleShot(true);
    m_sizeTimer.setInterval(kSizeDelayMs);
    connect(&m_sizeTimer, &QTimer::timeout, this, &Session::findFileBytes);
}

Session::~Session() = default;

const Comparison* Session::comparison() const { return m_snapshot->comparison ? &*m_snapshot->comparison : nullptr; }

const ActivationRow* Session::selectedActivation() const
{
    const Comparison* now = comparison();
    const Place& place = m_selection.current();
    const bool chosen = now && !place.weight && place.activation && *place.activation < now->activations.size();
    return chosen ? &now->activations[*place.activation] : nullptr;
}

const WeightRow* Session::selectedWeight() const
{
    const Comparison* now = comparison();
    const Place& place = m_selection.current();
    if (!now)
        return nullptr;
    if (place.weight && *place.weight < now->weights.size())
        return &now->weights[*place.weight];
    if (!place.node.valid() || place.side != Side::Float)
        return nullptr;
    const auto it = std::ranges::find_if(
        now->weights, [&](const WeightRow& row) { return row.floatNode == place.node && !row.bias; });
    return it == now->weights.end() ? nullptr : &*it;
}

void Session::setMetric(Metric metric)
{
    if (metric == m_metric)
        return;
    m_metric = metric;
    emit metricChanged(metric);
}

void Session::setTheme(const Theme& theme)
{
    m_theme = theme;
    emit themeChanged();
}

void Session::openFloat(const QString& path)
{
    const bool alone = quantizedAlone(*m_snapshot) && m_snapshot->inputs.floatPath == m_wanted.floatPath
        && m_wanted.quantPath.empty() && path.toStdString() != m_wanted.floatPath;
    Inputs inputs = m_wanted.floatPath.empty() || alone ? m_wanted : Inputs {};
    if (alone)
        inputs.quantPath = m_wanted.floatPath;
    inputs.floatPath = path.toStdString();
    openInputs(inputs);
}

void Session::openQuantized(const QString& path)
{
    Inputs inputs = m_wanted;
    inputs.quantPath = path.toStdString();
    openInputs(inputs);
}

void Session::openData(const QString& spec, const QString& preprocess, std::optional<size_t> limit)
{
    Inputs inputs = m_wanted;
    inputs.data = {};
    inputs.data.spec = spec.toStdString();
    inputs.data.preprocess = preprocess.toStdString();
    inputs.data.limit = limit;
    openInputs(inputs);
}

void Session::openClassNames(const QString& path)
{
    Inputs inputs = m_wanted;
    inputs.classNamesPath = path.toStdString();
    openInputs(inputs);
}

void Session::openOther(const OtherQuantized& other)
{
    Inputs inputs = m_wanted;
    inputs.other = other;
    openInputs(inputs);
}

void Session::setArithmetic(ArithmeticProfile profile)
{
    Inputs inputs = m_wanted;
    inputs.profile = profile;
    openInputs(inputs);
}

void Session::openFiles(const QStringList& paths)
{
    JobRequest request;
    request.tag = QStringLiteral("roles");
    request.title
        = tr("Look at %1")
              .arg(paths.size() == 1 ? fileName(paths.front().toStdString()) : tr("%1 files").arg(paths.size()));
    request.process = [this, paths, current = m_wanted](const JobContext& job) -> Result<std::function<void()>> {
        QS_TRY(const Inputs inputs, withFiles(current, paths, job.cancel));
        return std::function<void()>([this, inputs] { openInputs(inputs); });
    };
    request.failed = [this](const Issue& issue) {
        emit failed(issue);
        emit settled();
    };
    m_jobs.start(std::move(request));
}

void Session::exportReport(const QString& path)
{
    write(QStringLiteral("report"), path,
        [snapshot = m_snapshot, path](const JobContext&) { return writeReport(*snapshot, path.toStdString()); });
}

void Session::exportLinks(const QString& path)
{
    write(QStringLiteral("links"), path, [links = m_history.links(), path](const JobContext&) {
        return writeFile(path.toStdString(), manualLinksJson(links));
    });
}

void Session::write(const QString& tag, const QString& path, std::function<Status(const JobContext&)> work)
{
    JobRequest request;
    request.tag = tag;
    request.title = tr("Write %1").arg(fileName(path.toStdString()));
    request.process = [this, path, work = std::move(work), files = m_files, shown = m_snapshot](
                          const JobContext& job) -> Result<std::function<void()>> {
        // What an edit of the recipe compares is no longer the file that it began with, which is open still.
        if (isOpened(files, path.toStdString()) || isOpened(shown->inputs, path.toStdString()))
            return badUse("the file would replace one that is open", "choose another name");
        QS_CHECK(work(job));
        return std::function<void()>([this, path] { emit written(path); });
    };
    request.failed = [this](const Issue& issue) { emit failed(issue); };
    m_jobs.start(std::move(request));
}

void Session::publish(const SnapshotPtr& snapshot)
{
    if (snapshot == m_snapshot)
        return;
    const SnapshotPtr before = m_snapshot;
    const bool ours = m_selection.current().empty() || m_selection.current() == m_suggested;
    m_snapshot = snapshot;
    m_chosenByUs = true;
    m_selection.rebind(snapshot);
    m_chosenByUs = false;
    m_suggested = ours ? m_selection.current() : Place {};
    emit snapshotChanged(snapshot, before);
    suggestSelection();
}

void Session::suggestSelection()
{
    if (!m_snapshot->comparison || !(m_selection.current() == m_suggested))
        return;
    Place place;
    place.activation = worstActivation();
    if (!place.activation)
        return;
    m_chosenByUs = true;
    m_selection.replace(place);
    m_chosenByUs = false;
    m_suggested = m_selection.current();
}

std::optional<size_t> Session::worstActivation() const
{
    const Comparison& comparison = *m_snapshot->comparison;
    for (const Finding& finding : comparison.findings) {
        if (finding.activation)
            return finding.activation;
    }
    const auto worst = std::min_element(comparison.activations.begin(), comparison.activations.end(),
        [this](const ActivationRow& a, const ActivationRow& b) {
            return worstFirstKey(m_metric, a) < worstFirstKey(m_metric, b);
        });
    return worst == comparison.activations.end() ? std::nullopt
                                                 : std::optional(size_t(worst - comparison.activations.begin()));
}

} // namespace qs
