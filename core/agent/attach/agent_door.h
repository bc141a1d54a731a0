// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/agent/attach/agent_connection.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace qs {

/// Where agents attach to one window, one at a time. What comes in is read and answered on threads of its own, so that
/// no agent can make the window wait.
class AgentDoor {
public:
    /// As of AgentConnection; asked for one agent at a time. Issue: no socket or pipe can be made.
    static Result<std::unique_ptr<AgentDoor>> open(AgentConnection::Rules rules);
    ~AgentDoor(); ///< closes, removes the socket; waits for what runs, which is cancelled

    const std::string& path() const { return m_socket.path; }
    /// Whoever is attached is told why and let go; returns at once.
    void letGo(const std::string& why);

private:
    AgentDoor(WindowSocket socket, Descriptor woken, Descriptor wake, AgentConnection::Rules rules);
    void run();
    void take(Descriptor client);

    WindowSocket m_socket;
    AgentConnection::Rules m_rules;
    Descriptor m_wake, m_woken; ///< ends of a pipe: to stop waiting
    std::atomic<bool> m_occupied = false, m_stopping = false;
    std::mutex m_mutex; ///< of what follows
    std::vector<std::unique_ptr<AgentConnection>> m_connections;
    std::thread m_thread; ///< last: it begins when everything is there
};

} // namespace qs
