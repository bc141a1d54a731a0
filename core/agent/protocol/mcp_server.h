// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/agent/protocol/mcp_versions.h"
#include "core/agent/session/agent_desk.h"
#include "core/base/work/cancel.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>

namespace qs {

/// One client's connection, line by line. What needs the desk is done in turn on a thread of its own, so that a request
/// that takes long can be cancelled and everything else answered. No line ends it.
class McpServer {
public:
    /// Writes one line and its end; false: nobody reads any more.
    using Write = std::function<bool(const std::string& line)>;

    McpServer(AgentDesk desk, Write write);
    ~McpServer(); ///< stops
    McpServer(const McpServer&) = delete;
    McpServer& operator=(const McpServer&) = delete;

    /// From one thread.
    void receive(std::string_view line);
    /// A line that was longer than anything that is read.
    void receiveTooLong();
    bool idle() const; ///< everything that came in was answered
    bool gone() const { return m_gone; } ///< nobody reads the answers
    /// What runs is cancelled, what waits is left; returns when nothing runs.
    void stop();

private:
    struct Waiting {
        RpcMessage request;
        McpEra era;
        size_t bytes;
        CancelToken cancel;
    };
    void take(RpcMessage request, size_t bytes);
    void cancel(const RpcMessage& notification);
    void work();
    void answer(const Waiting& waiting);
    void write(const std::string& line);

    AgentDesk m_desk; ///< of the working thread
    Write m_write;
    std::mutex m_writing;
    std::atomic<bool> m_gone = false;
    bool m_agreed = false; ///< initialize was called; of the reading thread
    mutable std::mutex m_mutex; ///< of what follows
    std::condition_variable m_more;
    std::deque<std::shared_ptr<Waiting>> m_queue; ///< the first is being worked on
    std::set<std::string> m_ids; ///< of the queue
    size_t m_queuedBytes = 0;
    bool m_stopping = false;
    std::thread m_thread; ///< last: it begins when everything is there
};

} // namespace qs
