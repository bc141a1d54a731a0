// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/agent/protocol/line_service.h"
#include "core/agent/protocol/mcp_answers.h"
#include "core/agent/protocol/mcp_versions.h"
#include "core/agent/session/agent_desk.h"
#include "core/base/work/cancel.h"
#include "core/base/work/progress.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace qs {

/// Who wants to know what a client does. Called from the threads of the server; none: nobody.
struct McpWatch {
    std::function<void(const std::string& client)> named; ///< what the client calls itself, when it says so
    /// A tool begins; cancelling is somebody else's wish, and the client is told. Gives who is told how far it is.
    std::function<ProgressFn(const std::string& tool, const CancelToken& cancel)> begun;
    std::function<void()> ended; ///< the tool that began last
};

/// One client's connection, line by line. What needs the desk is done in turn on a thread of its own, so that a request
/// that takes long can be cancelled and everything else answered. No line ends it.
class McpServer : public LineService {
public:
    /// Writes one line and its end; false: nobody reads any more.
    using Write = std::function<bool(const std::string& line)>;

    McpServer(AgentDesk desk, Write write, McpWatch watch = {});
    ~McpServer() override; ///< stops
    McpServer(const McpServer&) = delete;
    McpServer& operator=(const McpServer&) = delete;

    void receive(std::string_view line) override;
    void receiveTooLong() override;
    bool idle() const override;
    bool gone() const override { return m_gone; }
    void stop() override;

private:
    struct Waiting {
        RpcMessage request;
        McpEra era;
        size_t bytes;
        CancelToken cancel; ///< the work is to stop
        CancelToken withdrawn; ///< by the client, who does not wait for an answer, or by stop()
    };
    void take(RpcMessage request, size_t bytes);
    void cancel(const RpcMessage& notification);
    void work();
    void answer(const Waiting& waiting);
    void answerSafely(const Waiting& waiting);
    McpAnswer carriedOut(const Waiting& waiting);
    void hearName(const RpcMessage& request);
    void write(const std::string& line);

    const AgentWork m_work;
    AgentDesk m_desk; ///< of the working thread
    Write m_write;
    McpWatch m_watch;
    std::mutex m_writing;
    std::atomic<bool> m_gone = false;
    std::string m_client; ///< its name, as far as it said it; of the reading thread
    bool m_agreed = false; ///< initialize was called; of the reading thread
    mutable std::mutex m_mutex; ///< of what follows
    std::condition_variable m_more;
    std::deque<std::shared_ptr<Waiting>> m_queue; ///< the first is being worked on
    size_t m_queuedBytes = 0;
    bool m_stopping = false;
    std::thread m_thread; ///< last: it begins when everything is there
};

} // namespace qs
