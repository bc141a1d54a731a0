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
constexpr const char* kOwnId = "quantscope-relay"; ///< of messages that are no client's
constexpr const char* kAskAgain = "let agents attach in one (quantscope --serve), then ask again";

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
    return badInput(why.empty() ? "the window that this was attached to is gone" : why, {}, kAskAgain);
}

} // namespace

Result<Relay::Attached> Relay::attach(const AttachRequest& request, const std::set<std::string>& without)
{
    std::vector<std::string> all = windowSockets();
    std::erase_if(all, [&](const std::string& path) { return without.contains(path); });
    std::optional<Issue> first;
    for (const std::string& path : all) {
        const auto admitted = [&]() -> Result<Attached> {
            QS_TRY(Descriptor window, connectToWindow(path));
            if (!sendLine(window.fd(), attachLine(request)))
                return closed({});
            QS_TRY(const std::string line, firstLine(window.fd()));
            QS_TRY(std::string name, readAdmission(line));
            return Attached { std::move(window), std::move(name), path, all.size() };
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

Relay::Relay(AttachRequest request, Attached first, Write write)
    : m_request(std::move(request))
    , m_attached(std::move(first))
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

/// Another window; its name.
Result<std::string> Relay::found()
{
    QS_TRY(Attached next, attach(m_request, m_left));
    if (m_thread.joinable())
        m_thread.join();
    m_attached = std::move(next);
    {
        const std::lock_guard lock(m_mutex);
        m_lost = false;
        m_why.clear();
    }
    m_thread = std::thread([this] { run(); });
    greet();
    return m_attached.name;
}

/// What the client began with, so that this window, too, knows the version of the protocol.
void Relay::greet()
{
    if (!m_hello.empty()) {
        AgentJson hello = AgentJson::parse(m_hello);
        hello["id"] = kOwnId;
        sendLine(m_attached.window.fd(), hello.dump());
    }
    if (!m_initialized.empty())
        sendLine(m_attached.window.fd(), m_initialized);
}

/// Why a request is not handed on; empty where it is. Without a window it looks for another.
std::string Relay::toldInstead()
{
    std::string why;
    {
        const std::lock_guard lock(m_mutex);
        if (!m_lost)
            return {};
        why = m_why;
    }
    const auto next = found();
    const bool told = std::exchange(m_told, true);
    if (!next.ok())
        return issueText(closed(why));
    if (told)
        return {};
    return "the window that this was attached to is gone, and this is attached to '" + *next
        + "' now, which may show other work; look at it, then ask again";
}

void Relay::forward(const RpcMessage& message, std::string_view line)
{
    const bool request = message.kind == RpcMessage::Kind::Request;
    if (request)
        if (const std::string told = toldInstead(); !told.empty())
            return write(faultLine(message.id, { RpcCode::InternalError, told, nullptr }));
    if (message.method == "initialize")
        m_hello = line;
    if (message.method == "notifications/initialized")
        m_initialized = line;
    {
        const std::lock_guard lock(m_mutex);
        if (request)
            m_asked.insert(idText(message.id));
        const auto withdrawn = message.params.find("requestId");
        if (message.method == "notifications/cancelled" && withdrawn != message.params.end()) // gets no answer
            if (const auto asked = m_asked.find(idText(*withdrawn)); asked != m_asked.end())
                m_asked.erase(asked);
    }
    if (!sendLine(m_attached.window.fd(), std::string(line)))
        shutdown(m_attached.window.fd(), SHUT_RDWR); // listen() finds out
}

void Relay::run()
{
    try {
        listen();
        lose();
    } catch (const std::exception&) { // such as no memory for an answer: nothing more can be handed on
        const std::lock_guard lock(m_mutex);
        m_lost = true;
        m_told = false;
        m_asked.clear();
    }
}

void Relay::listen()
{
    const auto line = [this](std::string_view text) { hear(text); };
    LineCutter lines({ line, [] {} }, kLongestRelayed);
    char bytes[65536];
    while (true) {
        const ssize_t size = read(m_attached.window.fd(), bytes, sizeof bytes);
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
    const std::string id = idOfAnswer(line);
    if (id == idText(kOwnId))
        return;
    write(std::string(line));
    const std::lock_guard lock(m_mutex);
    if (const auto asked = m_asked.find(id); asked != m_asked.end())
        m_asked.erase(asked);
}

void Relay::lose()
{
    const std::lock_guard lock(m_mutex);
    if (m_stopping)
        return;
    m_lost = true;
    m_told = !m_asked.empty();
    m_left.insert(m_attached.path);
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
    shutdown(m_attached.window.fd(), SHUT_RDWR);
    if (m_thread.joinable())
        m_thread.join();
}

} // namespace qs
