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
/// answer gets one sentence, and so does what comes later until another window lets agents attach: that one it attaches
/// to by itself, but never to one whose person let it go. Nothing is handed to another window before the client was
/// told of it.
class Relay : public LineService {
public:
    struct Attached {
        Descriptor window;
        std::string name; ///< of the window
        std::string path; ///< of its socket
        size_t windows = 1; ///< that were there
    };
    /// To the newest window that admits, but those whose sockets are `without`. Issue: there is none, or why the newest
    /// does not.
    static Result<Attached> attach(const AttachRequest& request, const std::set<std::string>& without = {});

    /// Writes one line and its end; false: nobody reads any more.
    using Write = std::function<bool(const std::string& line)>;
    Relay(AttachRequest request, Attached first, Write write);
    ~Relay() override;

    void receive(std::string_view line) override;
    void receiveTooLong() override;
    bool idle() const override;
    bool gone() const override { return m_gone; }
    void stop() override;
    /// Issue: the window let go before the client did, and it was attached to no other.
    Status lost() const;

private:
    void listen();
    void run();
    Result<std::string> found();
    std::string toldInstead();
    void greet();
    void hear(std::string_view line);
    void lose();
    void forward(const RpcMessage& message, std::string_view line);
    void write(const std::string& line);

    const AttachRequest m_request;
    Attached m_attached;
    std::set<std::string> m_left; ///< sockets of windows that let this go
    std::string m_hello, m_initialized; ///< what the client began with, which every window has to hear
    Write m_write;
    std::mutex m_writing;
    std::atomic<bool> m_gone = false;
    mutable std::mutex m_mutex; ///< of what follows
    std::multiset<std::string> m_asked; ///< ids as JSON, not answered yet
    std::string m_why; ///< the window lets go
    bool m_lost = false, m_stopping = false;
    bool m_told = true; ///< the client knows that the window is gone
    std::thread m_thread; ///< last: it begins when everything is there
};

} // namespace qs
