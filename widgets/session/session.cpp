// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/session.h"

#include <algorithm>
#include <thread>
#include <utility>

namespace qs {

namespace {

constexpr int kSizeDelayMs = 400;
constexpr size_t kKeptSnapshots = 16;
constexpr size_t kTriedAlone = 6; ///< findings whose remedies are tried without being asked

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
    connect(&m_history, &RecipeHistory::edited, this, &Session::recipeEdited);
    m_saved = content();
    connect(&m_history, &RecipeEdits::recipeChanged, this, &Session::noteWork);
    connect(&m_history, &RecipeHistory::linksChanged, this, &Session::noteWork);
    connect(&m_runs, &RunList::changed, this, &Session::noteWork);
    m_sizeTimer.setSingleShot(true);
    m_sizeTimer.setInterval(kSizeDelayMs);
    connect(&m_sizeTimer, &QTimer::timeout, this, &Session::findFileBytes);
    m_tryTimer.setSingleShot(true);
    m_tryTimer.setInterval(0);
    connect(&m_tryTimer, &QTimer::timeout, this, [this] {
        if (m_autoTry)
            tryFirst(kTriedAlone, std::max<size_t>(1, std::thread::hardware_concurrency() / 2), false);
    });
}

Session::~Session() = default;

const Comparison* Session::comparison() const { return m_snapshot->comparison ? &*m_snapshot->comparison : nullptr; }

const ActivationRow* Session::activationAt(const Place& place) const
{
    const Comparison* now = comparison();
    const bool chosen = now && !place.weight && place.activation && *place.activation < now->activations.size();
    return chosen ? &now->activations[*place.activation] : nullptr;
}

const WeightRow* Session::weightAt(const Place& place) const
{
    const Comparison* now = comparison();
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

void Session::lookAt(const QString& title, std::function<Result<std::function<void()>>(const JobContext&)> process)
{
    JobRequest request;
    request.tag = QStringLiteral("roles");
    request.title = title;
    request.process = std::move(process);
    request.failed = [this](const Issue& issue) {
        emit failed(issue);
        emit settled();
    };
    m_jobs.start(std::move(request));
}

void Session::publish(const SnapshotPtr& snapshot)
{
    if (snapshot == m_snapshot)
        return;
    const SnapshotPtr before = std::exchange(m_snapshot, snapshot);
    emit placesToFollow(snapshot); // or who is told of the first change would ask for a place of the last snapshot
    m_suggestion.rebind(snapshot);
    if (m_metric == Metric::OtherGain && !snapshot->inputs.other.given())
        setMetric(Metric::Accumulated);
    tellNumbers();
    emit snapshotChanged(snapshot, before);
    if (snapshot->inputs.recipe)
        tellOtherwise();
    if (const Comparison* now = comparison())
        m_suggestion.suggest(*now, m_metric);
}

} // namespace qs

#include "moc_session.cpp"
