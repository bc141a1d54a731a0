// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agent/protocol/mcp_server.h"

#include "core/agent/protocol/mcp_answers.h"
#include "core/agent/protocol/progress_lines.h"
#include "core/agent/tools/agent_tool.h"

#include <algorithm>
#include <new>
#include <utility>

namespace qs {

namespace {

constexpr size_t kMostWaiting = 20'000, kMostWaitingBytes = size_t(64) << 20;

std::string lineFor(const AgentJson& id, McpAnswer answer)
{
    if (const RpcFault* const fault = std::get_if<RpcFault>(&answer))
        return faultLine(id, *fault);
    return resultLine(id, std::get<AgentJson>(std::move(answer)));
}

AgentJson progressToken(const AgentJson& params)
{
    const auto meta = params.find("_meta");
    if (meta == params.end() || !meta->is_object() || !meta->contains("progressToken"))
        return nullptr;
    return (*meta)["progressToken"];
}

std::string toolNameOf(const AgentJson& params)
{
    const auto name = params.find("name");
    return name != params.end() && name->is_string() && toolNamed(name->get<std::string>()) ? name->get<std::string>()
                                                                                            : std::string();
}

ProgressFn both(ProgressFn a, ProgressFn b)
{
    if (!a || !b)
        return a ? a : b;
    return [a = std::move(a), b = std::move(b)](std::string_view phase, size_t done, size_t total) {
        a(phase, done, total);
        b(phase, done, total);
    };
}

} // namespace

McpServer::McpServer(AgentDesk desk, Write write, McpWatch watch)
    : m_work(desk.isShared() ? AgentWork::Shared : AgentWork::Own)
    , m_desk(std::move(desk))
    , m_write(std::move(write))
    , m_watch(std::move(watch))
    , m_thread([this] { work(); })
{
}

McpServer::~McpServer() { stop(); }

void McpServer::receive(std::string_view line)
try {
    RpcMessage message = readMessage(line);
    switch (message.kind) {
    case RpcMessage::Kind::Nothing:
        return;
    case RpcMessage::Kind::Wrong:
        return write(faultLine(message.id, message.fault));
    case RpcMessage::Kind::Notification:
        if (message.method == "notifications/cancelled")
            cancel(message);
        return;
    case RpcMessage::Kind::Request:
        return take(std::move(message), line.size());
    }
} catch (const std::bad_alloc&) { // a smaller one may do
    write(faultLine(nullptr, outOfMemoryFault()));
}

void McpServer::receiveTooLong()
{
    write(faultLine(nullptr, { RpcCode::ParseError, "the message is longer than 1 MiB", nullptr }));
}

void McpServer::take(RpcMessage request, size_t bytes)
{
    const McpManner manner
        = request.method == "initialize" ? McpManner { McpEra::Handshake, {} } : mannerOf(request, m_agreed);
    if (!manner.era)
        return write(faultLine(request.id, manner.fault));
    hearName(request);
    if (auto answer = answerAtOnce(request, *manner.era, m_work)) {
        m_agreed = m_agreed || (request.method == "initialize" && std::holds_alternative<AgentJson>(*answer));
        return write(lineFor(request.id, std::move(*answer)));
    }
    std::optional<RpcFault> fault;
    {
        const std::lock_guard lock(m_mutex);
        if (std::ranges::any_of(m_queue, [&](const auto& waiting) { return waiting->request.id == request.id; }))
            fault = RpcFault { RpcCode::InvalidRequest, "a request with this id is not answered yet", nullptr };
        else if (m_queue.size() >= kMostWaiting || m_queuedBytes + bytes > kMostWaitingBytes)
            fault = RpcFault { RpcCode::Busy, "too many requests wait: wait for answers", nullptr };
        else {
            m_queue.push_back(std::make_shared<Waiting>(Waiting { std::move(request), *manner.era, bytes, {}, {} }));
            m_queuedBytes += bytes;
        }
    }
    if (fault)
        return write(faultLine(request.id, *fault));
    m_more.notify_one();
}

void McpServer::cancel(const RpcMessage& notification)
{
    const auto id = notification.params.find("requestId");
    if (id == notification.params.end())
        return;
    const std::lock_guard lock(m_mutex);
    for (const auto& waiting : m_queue)
        if (waiting->request.id == *id) {
            waiting->withdrawn.cancel();
            waiting->cancel.cancel();
        }
}

void McpServer::work()
{
    std::unique_lock lock(m_mutex);
    while (true) {
        m_more.wait(lock, [this] { return m_stopping || !m_queue.empty(); });
        if (m_stopping)
            return;
        const std::shared_ptr<Waiting> next = m_queue.front();
        lock.unlock();
        answerSafely(*next);
        lock.lock();
        m_queuedBytes -= next->bytes;
        m_queue.pop_front();
    }
}

McpAnswer McpServer::carriedOut(const Waiting& waiting)
{
    WorkContext work { {}, waiting.cancel, m_desk.settings().threads, m_desk.settings().memoryLimit };
    work.progress = progressLines(
        progressToken(waiting.request.params), waiting.cancel, [this](const std::string& line) { write(line); });
    const std::string tool = waiting.request.method == "tools/call" ? toolNameOf(waiting.request.params) : "";
    if (tool.empty() || !m_watch.begun)
        return answerOf(waiting.request, waiting.era, m_desk, work);
    work.progress = both(work.progress, m_watch.begun(tool, waiting.cancel));
    McpAnswer answer = answerOf(waiting.request, waiting.era, m_desk, work);
    m_watch.ended();
    return answer;
}

void McpServer::answer(const Waiting& waiting)
{
    McpAnswer answer = carriedOut(waiting);
    if (waiting.withdrawn.cancelled())
        return;
    if (waiting.cancel.cancelled())
        answer = stoppedAnswer(waiting.era);
    write(lineFor(waiting.request.id, std::move(answer)));
}

/// Nothing that one request asks for ends the thread.
void McpServer::answerSafely(const Waiting& waiting)
try {
    if (waiting.withdrawn.cancelled())
        return;
    try {
        answer(waiting);
    } catch (const std::bad_alloc&) { // for the line of an answer
        write(faultLine(waiting.request.id, outOfMemoryFault()));
    }
} catch (const std::exception&) { // not even for that: they are let go
    m_gone = true;
}

/// `initialize` says it, and since 2026-07-28 every request may.
void McpServer::hearName(const RpcMessage& request)
{
    if (!m_watch.named)
        return;
    const std::string name = clientName(request.params);
    if (!name.empty() && name != std::exchange(m_client, name))
        m_watch.named(name);
}

void McpServer::write(const std::string& line)
{
    const std::lock_guard lock(m_writing);
    if (!m_gone && !m_write(line))
        m_gone = true;
}

bool McpServer::idle() const
{
    const std::lock_guard lock(m_mutex);
    return m_queue.empty();
}

void McpServer::stop()
{
    {
        const std::lock_guard lock(m_mutex);
        m_stopping = true;
        for (const auto& waiting : m_queue) {
            waiting->withdrawn.cancel();
            waiting->cancel.cancel();
        }
    }
    m_more.notify_all();
    if (m_thread.joinable())
        m_thread.join();
}

} // namespace qs
