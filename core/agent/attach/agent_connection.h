// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/agent/attach/attach_lines.h"
#include "core/agent/attach/window_sockets.h"
#include "core/agent/protocol/mcp_server.h"

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace qs {

/// Somebody at the door of a window: says who they are, is admitted or not, then speaks the protocol until either side
/// lets go. All of it on threads of its own.
class AgentConnection {
public:
    /// Called on the connection's thread.
    struct Rules {
        std::string window; ///< its name
        std::function<Result<std::unique_ptr<McpServer>>(const AttachRequest&, McpServer::Write)> admit;
        std::function<void()> left; ///< who was admitted is gone, and nothing of theirs runs
    };
    AgentConnection(Descriptor socket, Rules rules);
    ~AgentConnection(); ///< lets go

    /// Says why, and lets go; returns at once.
    void letGo(const std::string& why);
    bool over() const { return m_over; }

private:
    void run();
    void listen();
    void greet(std::string_view line);
    bool write(const std::string& line);

    Descriptor m_socket;
    Rules m_rules;
    std::unique_ptr<McpServer> m_server; ///< null: not admitted
    bool m_refused = false;
    std::mutex m_writing;
    std::atomic<bool> m_over = false;
    std::thread m_thread; ///< last: it begins when everything is there
};

} // namespace qs
