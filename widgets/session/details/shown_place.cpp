// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/details/shown_place.h"

#include <algorithm>
#include <numeric>

namespace qs {

ShownPlace::ShownPlace(Session& session, QObject* parent)
    : QObject(parent)
    , m_session(session)
{
    connect(&session, &Session::placesToFollow, this, [this](const SnapshotPtr& now) {
        if (m_own)
            m_own->follow(now);
    });
    connect(&session, &Session::snapshotChanged, this, &ShownPlace::takeSnapshot);
    connect(&session.selection(), &Selection::changed, this, [this] {
        if (!m_own)
            emit changed();
    });
}

QString ShownPlace::name() const
{
    const Snapshot& snapshot = *m_session.snapshot();
    const Place& place = current();
    if (const ActivationRow* row = activation())
        return QString::fromStdString(row->name);
    const auto& model = place.side == Side::Float ? snapshot.floatModel : snapshot.quantModel;
    if (!model || place.empty())
        return {};
    const Graph& graph = model->graph();
    if (place.inner.valid())
        return QString::fromStdString(innerName(graph, place.inner));
    return QString::fromStdString(place.value.valid() ? graph.value(place.value).name : graph.node(place.node).name);
}

void ShownPlace::setPinned(bool pinned)
{
    if (pinned == this->pinned())
        return;
    if (pinned)
        return pinTo(m_session.selection().current());
    m_own.reset();
    emit pinnedChanged(false);
    emit changed();
}

void ShownPlace::pinTo(const Place& place)
{
    if (place.empty())
        return;
    const bool before = pinned();
    m_own = std::make_unique<Selection>();
    m_own->rebind(m_session.snapshot());
    m_own->select(place);
    connect(m_own.get(), &Selection::changed, this, &ShownPlace::changed);
    if (!before)
        emit pinnedChanged(true);
    emit changed();
}

/// What a new snapshot does not have any more cannot be shown: the selection leads again.
void ShownPlace::takeSnapshot()
{
    if (!m_own)
        return;
    m_own->tell();
    if (m_own->current().empty())
        setPinned(false);
}

std::optional<TensorPlace> tensorAt(const Session& session, const Place& place)
{
    if (!place.value.valid() && !place.weight)
        return std::nullopt;
    TensorPlace there { place.side == Side::Quantized, place.value, place.weight, {} };
    if (const ActivationRow* row = session.activationAt(place); row && row->siblings > 0 && !there.quantized)
        there.partner = row->quantValue;
    return nameOf(*session.snapshot(), there).empty() ? std::nullopt : std::optional(there);
}

bool waitsForRun(const Session& session, const TensorPlace& place)
{
    const Snapshot& now = *session.snapshot();
    return !isConstant(now, place) && (!now.data || (now.comparison && now.comparison->partial));
}

std::vector<size_t> shownSamples(const Session& session, const Place& place)
{
    if (place.sample)
        return { *place.sample };
    const auto& data = session.snapshot()->data;
    std::vector<size_t> samples(data ? std::min(data->samples(), kMostShownSamples) : 1);
    std::iota(samples.begin(), samples.end(), size_t(0));
    return samples;
}

} // namespace qs

#include "moc_shown_place.cpp"
