// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agent/attach/agent_door.h"

#include <cerrno>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace qs {

namespace {

constexpr size_t kMostAtOnce = 8;

} // namespace

Result<std::unique_ptr<AgentDoor>> AgentDoor::open(AgentConnection::Rules rules)
{
    int ends[2] = { -1, -1 };
    if (pipe2(ends, O_CLOEXEC) != 0)
        return badUse(std::string("agents cannot attach, no pipe can be made: ") + std::strerror(errno),
            "close files or windows, and try again");
    Descriptor woken(ends[0]), wake(ends[1]);
    QS_TRY(WindowSocket socket, makeWindowSocket());
    const std::string path = socket.path;
    try {
        return std::unique_ptr<AgentDoor>(
            new AgentDoor(std::move(socket), std::move(woken), std::move(wake), std::move(rules)));
    } catch (const std::exception&) {
        unlink(path.c_str());
        return badUse("agents cannot attach, the system has no thread or memory for it", "close files or windows");
    }
}

AgentDoor::AgentDoor(WindowSocket socket, Descriptor woken, Descriptor wake, AgentConnection::Rules rules)
    : m_socket(std::move(socket))
    , m_rules(std::move(rules))
    , m_wake(std::move(wake))
    , m_woken(std::move(woken))
{
    m_thread = std::thread([this] { run(); });
}

AgentDoor::~AgentDoor()
{
    m_stopping = true;
    m_wake = Descriptor();
    unlink(m_socket.path.c_str());
    letGo("the window was closed, or lets no agent attach any more");
    m_thread.join();
    m_connections.clear();
}

void AgentDoor::letGo(const std::string& why)
{
    const std::lock_guard lock(m_mutex);
    for (const auto& connection : m_connections)
        connection->letGo(why);
}

void AgentDoor::run()
{
    while (!m_stopping) {
        pollfd ends[2] { { m_socket.listening.fd(), POLLIN, 0 }, { m_woken.fd(), POLLIN, 0 } };
        if (poll(ends, 2, -1) <= 0 || m_stopping)
            continue;
        Descriptor client(accept4(m_socket.listening.fd(), nullptr, nullptr, SOCK_CLOEXEC));
        if (client.fd() < 0)
            continue;
        try {
            take(std::move(client));
        } catch (const std::exception&) { // no thread or no memory for one more: they are not let in
        }
    }
}

void AgentDoor::take(Descriptor client)
{
    AgentConnection::Rules rules = m_rules;
    rules.admit = [this](const AttachRequest& request, McpServer::Write write) -> Result<std::unique_ptr<McpServer>> {
        if (m_occupied.exchange(true))
            return badUse("another agent is attached to the window", "detach it there first");
        try {
            auto admitted = m_rules.admit(request, std::move(write));
            m_occupied = admitted.ok();
            return admitted;
        } catch (...) {
            m_rules.left();
            m_occupied = false;
            throw;
        }
    };
    rules.left = [this] {
        m_rules.left();
        m_occupied = false;
    };
    const std::lock_guard lock(m_mutex);
    std::erase_if(m_connections, [](const auto& connection) { return connection->over(); });
    if (m_connections.size() < kMostAtOnce && !m_stopping)
        m_connections.push_back(std::make_unique<AgentConnection>(std::move(client), std::move(rules)));
}

} // namespace qs
