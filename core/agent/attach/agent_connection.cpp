// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agent/attach/agent_connection.h"

#include "core/agent/protocol/line_cutter.h"

#include <cerrno>
#include <exception>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

namespace qs {

namespace {

constexpr int kGreetingMs = 3000; ///< that somebody may take to say who they are
constexpr timeval kReading { 10, 0 }; ///< that they may take to read an answer

} // namespace

AgentConnection::AgentConnection(Descriptor socket, Rules rules)
    : m_socket(std::move(socket))
    , m_rules(std::move(rules))
{
    setsockopt(m_socket.fd(), SOL_SOCKET, SO_SNDTIMEO, &kReading, sizeof kReading);
    m_thread = std::thread([this] { run(); });
}

AgentConnection::~AgentConnection()
{
    shutdown(m_socket.fd(), SHUT_RDWR);
    m_thread.join();
}

void AgentConnection::letGo(const std::string& why)
{
    if (const std::unique_lock lock(m_writing, std::try_to_lock); lock) // else they read nothing
        sendLine(m_socket.fd(), farewellLine(why), Sending::AtOnce);
    shutdown(m_socket.fd(), SHUT_RDWR);
}

void AgentConnection::run()
{
    try {
        listen();
    } catch (const std::exception&) { // such as no memory: they are let go, and nobody else is
    }
    shutdown(m_socket.fd(), SHUT_RDWR); // what waits for them to read an answer waits no longer
    if (m_server) {
        m_server->stop();
        m_server.reset(); // with all that it keeps of the work
        m_rules.left();
    }
    m_over = true;
}

/// Until either side lets go.
void AgentConnection::listen()
{
    const auto line = [this](std::string_view text) { m_server ? m_server->receive(text) : greet(text); };
    const auto tooLong = [this] { m_server ? m_server->receiveTooLong() : greet({}); };
    LineCutter lines({ line, tooLong });
    while (!m_refused && !(m_server && m_server->gone())) {
        pollfd in { m_socket.fd(), POLLIN, 0 };
        if (poll(&in, 1, m_server ? -1 : kGreetingMs) == 0)
            break; // they say nothing
        char bytes[65536];
        const ssize_t size = read(m_socket.fd(), bytes, sizeof bytes);
        if (size < 0 && errno == EINTR)
            continue;
        if (size <= 0)
            break;
        lines.add({ bytes, size_t(size) });
    }
}

void AgentConnection::greet(std::string_view line)
{
    if (m_refused)
        return;
    const auto admitted = [&]() -> Status {
        QS_TRY(const AttachRequest request, readAttachLine(line));
        QS_TRY(m_server, m_rules.admit(request, [this](const std::string& text) { return write(text); }));
        return {};
    }();
    m_refused = !admitted.ok();
    write(m_refused ? refusedLine(admitted.issue()) : admittedLine(m_rules.window));
}

bool AgentConnection::write(const std::string& line)
{
    const std::lock_guard lock(m_writing);
    return sendLine(m_socket.fd(), line);
}

} // namespace qs
