// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/agent/window_ear.h"

namespace qs {

WindowEar::WindowEar(Session& session, QObject* parent)
    : QObject(parent)
{
    const auto hear = [this](const Issue& issue) { m_issue = issue; };
    connect(&session, &Session::failed, this, hear);
    connect(&session, &Session::filesSwapped, this, hear);
    connect(&session, &Session::cancelled, this,
        [this] { m_issue = badUse("the person at the window stopped the comparison", "ask them before you go on"); });
    connect(&session, &Session::settled, this, &WindowEar::somethingEnded);
    connect(&session, &Session::needsRunChanged, this, &WindowEar::somethingEnded);
    connect(&session, &Session::snapshotChanged, this, &WindowEar::somethingEnded);
    connect(&session.jobs(), &JobList::finished, this, [this] {
        hearProgress(nullptr);
        emit somethingEnded();
    });
    connect(&session.jobs(), &JobList::progressed, this,
        [this, &session](quint64 id) { hearProgress(session.jobs().model().find(id)); });
}

void WindowEar::hearProgress(const JobRow* row)
{
    const std::lock_guard lock(m_mutex);
    m_progress = row ? Progress { row->phase.toStdString(), size_t(row->done), size_t(row->total) } : Progress {};
}

void WindowEar::tellProgress(const ProgressFn& told) const
{
    Progress now;
    {
        const std::lock_guard lock(m_mutex);
        now = m_progress;
    }
    if (told && !now.phase.empty())
        told(now.phase, now.done, now.total);
}

} // namespace qs

#include "moc_window_ear.cpp"
