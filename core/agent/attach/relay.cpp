// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agent/attach/relay.h"

#include "core/agent/protocol/line_cutter.h"
#include "core/agent/protocol/rpc_message.h"
#include "core/base/issue_text.h"

#include <cerrno>
#include <exception>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace qs {

namespace {

constexpr size_t kLongestRelayed = size_t(64) << 20;
constexpr int kAdmissionMs = 10'000;

/// One line, a byte at a time: what follows it is for others.
Result<std::string> firstLine(int fd)
{
    std::string line;
    for (char byte = 0; line.size() < LineCutter::kLongest;) {
        pollfd in { fd, POLLIN, 0 };
        const int ready = poll(&in, 1, kAdmissionMs);
        const ssize_t size = ready > 0 ? read(fd, &byte, 1) : ready;
        if (size < 0 && errno == EINTR)
            continue;
        if (size <= 0)
            break;
        if (byte == '\n')
            return line;
        line += byte;
    }
    return badInput("the window does not answer", {}, "see whether it still runs");
}

std::string idText(const AgentJson& id)
{
    const std::string line = resultLine(id, {});
    return line.substr(0, line.find(",\"result\":"));
}

/// Of an answer, in the form of idText; it stands first in all of them. No text in JSON holds what ends it.
std::string idOfAnswer(std::string_view line)
{
    const size_t end = std::min(line.find(",\"result\":"), line.find(",\"error\":"));
    return end == std::string_view::npos ? std::string() : std::string(line.substr(0, end));
}

Issue closed(const std::string& why)
{
    return badInput(why.empty() ? "the window that this was attached to is gone" : why, {},
        "open it again, let agents attach, and start this server anew");
}

} // namespace

Result<Relay::Attached> Relay::attach(const AttachRequest& request)
{
    const std::vector<std::string> all = windowSockets();
    std::optional<Issue> first;
    for (const std::string& path : all) {
        const auto admitted = [&]() -> Result<Attached> {
            QS_TRY(Descriptor window, connectToWindow(path));
            if (!sendLine(window.fd(), attachLine(request)))
                return closed({});
            QS_TRY(const std::string line, firstLine(window.fd()));
            QS_TRY(std::string name, readAdmission(line));
            return Attached { std::move(window), std::move(name), all.size() };
        };
        auto attached = admitted();
        if (attached.ok())
            return attached;
        if (!first)
            first = attached.issue();
    }
    return first ? *first
                 : badInput("no window lets agents attach", {},
                     "start quantscope --serve, or choose Edit, Agents, Let agents attach in one");
}

Relay::Relay(Descriptor window, Write write)
    : m_window(std::move(window))
    , m_write(std::move(write))
    , m_thread([this] { run(); })
{
}

Relay::~Relay() { stop(); }

void Relay::receive(std::string_view line)
{
    const RpcMessage message = readMessage(line);
    if (message.kind == RpcMessage::Kind::Wrong)
        return write(faultLine(message.id, message.fault));
    if (message.kind != RpcMessage::Kind::Nothing)
        forward(message, line);
}

void Relay::receiveTooLong()
{
    write(faultLine(nullptr, { RpcCode::ParseError, "the message is longer than 1 MiB", nullptr }));
}

void Relay::forward(const RpcMessage& message, std::string_view line)
{
    const bool request = message.kind == RpcMessage::Kind::Request;
    {
        const std::lock_guard lock(m_mutex);
        if (m_lost && request)
            return write(faultLine(message.id, { RpcCode::InternalError, issueText(closed(m_why)), nullptr }));
        if (request)
            m_asked.insert(idText(message.id));
        const auto withdrawn = message.params.find("requestId");
        if (message.method == "notifications/cancelled" && withdrawn != message.params.end()) // gets no answer
            if (const auto asked = m_asked.find(idText(*withdrawn)); asked != m_asked.end())
                m_asked.erase(asked);
    }
    if (!sendLine(m_window.fd(), std::string(line)))
        shutdown(m_window.fd(), SHUT_RDWR); // listen() finds out
}

void Relay::run()
{
    try {
        listen();
        lose();
    } catch (const std::exception&) { // such as no memory for an answer: nothing more can be handed on
        const std::lock_guard lock(m_mutex);
        m_lost = true;
        m_asked.clear();
    }
}

void Relay::listen()
{
    const auto line = [this](std::string_view text) { hear(text); };
    LineCutter lines({ line, [] {} }, kLongestRelayed);
    char bytes[65536];
    while (true) {
        const ssize_t size = read(m_window.fd(), bytes, sizeof bytes);
        if (size < 0 && errno == EINTR)
            continue;
        if (size <= 0)
            return;
        lines.add({ bytes, size_t(size) });
    }
}

void Relay::hear(std::string_view line)
{
    if (const auto why = readFarewell(line)) {
        const std::lock_guard lock(m_mutex);
        m_why = *why;
        return;
    }
    write(std::string(line));
    const std::lock_guard lock(m_mutex);
    if (const auto asked = m_asked.find(idOfAnswer(line)); asked != m_asked.end())
        m_asked.erase(asked);
}

void Relay::lose()
{
    const std::lock_guard lock(m_mutex);
    if (m_stopping)
        return;
    m_lost = true;
    const std::string sentence = issueText(closed(m_why));
    for (const std::string& asked : m_asked) { // "{...,"id":1": the answer goes on from there
        const AgentJson error { { "code", int(RpcCode::InternalError) }, { "message", sentence } };
        write(asked + ",\"error\":" + error.dump() + "}");
    }
    m_asked.clear();
}

void Relay::write(const std::string& line)
{
    const std::lock_guard lock(m_writing);
    if (!m_gone && !m_write(line))
        m_gone = true;
}

bool Relay::idle() const
{
    const std::lock_guard lock(m_mutex);
    return m_asked.empty();
}

Status Relay::lost() const
{
    const std::lock_guard lock(m_mutex);
    return m_lost ? Status(closed(m_why)) : Status();
}

void Relay::stop()
{
    {
        const std::lock_guard lock(m_mutex);
        m_stopping = true;
    }
    shutdown(m_window.fd(), SHUT_RDWR);
    if (m_thread.joinable())
        m_thread.join();
}

} // namespace qs
