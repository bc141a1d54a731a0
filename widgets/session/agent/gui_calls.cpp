// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/agent/gui_calls.h"

#include <QMetaObject>

#include <algorithm>
#include <chrono>
#include <utility>

namespace qs {

namespace {

constexpr std::chrono::milliseconds kLookMs { 20 }; ///< whether it was cancelled

} // namespace

bool GuiCalls::wait(const CancelToken& cancel, std::function<bool()> answered, const std::function<void()>& meanwhile)
{
    const auto call = std::make_shared<Call>();
    call->answered = std::move(answered);
    post([this, call] {
        m_pending.push_back(call);
        askPending();
    });
    std::unique_lock lock(m_mutex);
    while (!call->done && !m_closed && !cancel.cancelled()) {
        m_answered.wait_for(lock, kLookMs);
        if (!meanwhile || call->done)
            continue;
        lock.unlock();
        meanwhile();
        lock.lock();
    }
    call->dropped = true;
    return call->done;
}

void GuiCalls::post(std::function<void()> work)
{
    const std::lock_guard lock(m_mutex);
    if (m_closed)
        return;
    m_mail.push_back(std::move(work));
    QMetaObject::invokeMethod(this, "takeMail", Qt::QueuedConnection);
}

void GuiCalls::retry()
{
    if (!m_pending.empty())
        post([this] { askPending(); });
}

/// There is one mail for each event.
void GuiCalls::takeMail()
{
    std::function<void()> work;
    {
        const std::lock_guard lock(m_mutex);
        if (m_mail.empty())
            return;
        work = std::move(m_mail.front());
        m_mail.pop_front();
    }
    work();
}

void GuiCalls::askPending()
{
    for (const auto& call : std::exchange(m_pending, {})) {
        {
            const std::lock_guard lock(m_mutex);
            if (call->dropped || m_closed)
                continue;
        }
        const bool done = call->answered();
        if (!done) {
            m_pending.push_back(call);
            continue;
        }
        const std::lock_guard lock(m_mutex);
        call->done = true;
        m_answered.notify_all();
    }
}

void GuiCalls::close()
{
    const std::lock_guard lock(m_mutex);
    m_closed = true;
    m_mail.clear();
    m_answered.notify_all();
}

} // namespace qs

#include "moc_gui_calls.cpp"
