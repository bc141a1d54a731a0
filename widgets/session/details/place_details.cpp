// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/details/place_details.h"

namespace qs {

PlaceDetails::PlaceDetails(Session& session, PairDetails& shared, ShownPlace& place, QObject* parent)
    : QObject(parent)
    , m_session(session)
    , m_shared(shared)
    , m_place(place)
{
    connect(&m_shared, &PairDetails::changed, this, [this] {
        if (!m_own)
            emit changed();
    });
    connect(&m_place, &ShownPlace::pinnedChanged, this, &PlaceDetails::choose);
}

void PlaceDetails::watch(bool watches)
{
    m_watches = watches;
    (m_own ? *m_own : m_shared).watch(this, watches);
}

void PlaceDetails::choose()
{
    if (m_place.pinned() == (m_own != nullptr))
        return;
    const bool watches = m_watches;
    watch(false);
    if (m_own)
        m_own->stop();
    m_own.reset();
    if (m_place.pinned()) {
        m_own = std::make_unique<PairDetails>(m_session, m_place);
        connect(m_own.get(), &PairDetails::changed, this, &PlaceDetails::changed);
    }
    watch(watches);
    emit changed();
}

} // namespace qs

#include "moc_place_details.cpp"
