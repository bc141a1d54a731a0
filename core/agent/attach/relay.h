// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/agent/attach/attach_lines.h"
#include "core/agent/attach/window_sockets.h"
#include "core/agent/protocol/line_service.h"

#include <atomic>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>

namespace qs {

struct RpcMessage;

/// Hands the messages of a client to a window and the answers back. When the window goes, everything that waits for an
/// answer, and all that comes later, gets one sentence.
class Relay : public LineService {
public:
    struct Attached {
        Descriptor window;
        std::string name; ///< of the window
        size_t windows = 1; ///< that were there
    };
    /// To the newest window that admits. Issue: there is none, or why the newest does not.
    static Result<Attached> attach(const AttachRequest& request);

    /// Writes one line and its end; false: nobody reads any more.
    using Write = std::function<bool(const std::string& line)>;
    Relay(Descriptor window, Write write);
    ~Relay() override;

    void receive(std::string_view line) override;
    void receiveTooLong() override;
    bool idle() const override;
    bool gone() const override { return m_gone; }
    void stop() override;
    /// Issue: the window let go before the client did.
    Status lost() const;

private:
    void listen();
    void run();
    void hear(std::string_view line);
    void lose();
    void forward(const RpcMessage& message, std::string_view line);
    void write(const std::string& line);

    Descriptor m_window;
    Write m_write;
    std::mutex m_writing;
    std::atomic<bool> m_gone = false;
    mutable std::mutex m_mutex; ///< of what follows
    std::multiset<std::string> m_asked; ///< ids as JSON, not answered yet
    std::string m_why; ///< the window lets go
    bool m_lost = false, m_stopping = false;
    std::thread m_thread; ///< last: it begins when everything is there
};

} // namespace qs
