// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/work/cancel.h"
#include "core/base/work/progress.h"
#include "widgets/session/jobs/job_list.h"

#include <QString>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

namespace qs {

/// One tool that an agent has called, while it is carried out on the agent's thread.
class AgentCall {
public:
    AgentCall(std::string tool, CancelToken cancel)
        : m_tool(std::move(tool))
        , m_cancel(std::move(cancel))
    {
    }
    const std::string& tool() const { return m_tool; }
    void tell(std::string_view phase, size_t done, size_t total); ///< any thread
    void end(); ///< any thread

    /// For the list of jobs, where the person sees and can stop it: lasts as long as the call, and does nothing of it.
    static JobRequest job(const std::shared_ptr<AgentCall>& call, const QString& title);

private:
    Result<std::function<void()>> follow(const JobContext& job);

    const std::string m_tool;
    const CancelToken m_cancel;
    std::mutex m_mutex; ///< of what follows
    std::condition_variable m_changed;
    std::string m_phase;
    size_t m_done = 0, m_total = 0;
    bool m_over = false;
};

} // namespace qs
