// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/agent/agent_call.h"

#include <chrono>

namespace qs {

namespace {

constexpr std::chrono::milliseconds kLook { 50 };

} // namespace

void AgentCall::tell(std::string_view phase, size_t done, size_t total)
{
    const std::lock_guard lock(m_mutex);
    m_phase = phase;
    m_done = done;
    m_total = total;
}

void AgentCall::end()
{
    const std::lock_guard lock(m_mutex);
    m_over = true;
    m_changed.notify_all();
}

JobRequest AgentCall::job(const std::shared_ptr<AgentCall>& call, const QString& title)
{
    JobRequest request;
    request.tag = QStringLiteral("agent");
    request.title = title;
    request.process = [call](const JobContext& job) { return call->follow(job); };
    return request;
}

Result<std::function<void()>> AgentCall::follow(const JobContext& job)
{
    std::unique_lock lock(m_mutex);
    while (!m_over && !job.cancel.cancelled()) {
        m_changed.wait_for(lock, kLook);
        job.progress(m_phase, m_done, m_total);
    }
    if (m_over)
        return std::function<void()>();
    m_cancel.cancel();
    return cancelled();
}

} // namespace qs
