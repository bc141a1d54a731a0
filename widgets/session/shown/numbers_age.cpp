// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/shown/numbers_age.h"

#include <utility>

namespace qs {

namespace {

constexpr int kPatienceMs = 300; ///< a quick run must not make the window flicker

} // namespace

NumbersAge::NumbersAge(QObject* parent)
    : QObject(parent)
{
    m_patience.setSingleShot(true);
    m_patience.setInterval(kPatienceMs);
    connect(&m_patience, &QTimer::timeout, this, [this] { set(true); });
}

void NumbersAge::tell(State state, const QString& run)
{
    const bool other = std::exchange(m_run, run) != run;
    if (state == State::Running && !m_stale) {
        if (!m_patience.isActive())
            m_patience.start();
        return;
    }
    m_patience.stop();
    const bool before = m_stale;
    set(state != State::Now);
    if (other && before && m_stale)
        emit changed();
}

void NumbersAge::set(bool stale)
{
    if (std::exchange(m_stale, stale) != stale)
        emit changed();
}

} // namespace qs

#include "moc_numbers_age.cpp"
