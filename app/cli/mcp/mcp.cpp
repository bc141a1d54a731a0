// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"

#include "core/agent/protocol/mcp_server.h"
#include "core/base/work/memory.h"

#include <cerrno>
#include <memory>
#include <poll.h>
#include <unistd.h>

namespace qs::cli {

namespace {

constexpr size_t kLongestMessage = size_t(1) << 20;
constexpr int kPollMs = 50;

struct McpCommand {
    std::vector<std::string> allow;
};

/// Cuts what is read into lines. Of one that is too long nothing is kept but that it was there.
class LineCutter {
public:
    void add(std::string_view bytes, McpServer& server)
    {
        while (!bytes.empty()) {
            const size_t end = bytes.find('\n');
            keep(bytes.substr(0, end));
            if (end == std::string_view::npos)
                return;
            finish(server);
            bytes.remove_prefix(end + 1);
        }
    }
    void finish(McpServer& server)
    {
        if (m_tooLong)
            server.receiveTooLong();
        else
            server.receive(m_line);
        m_line.clear();
        m_tooLong = false;
    }

private:
    void keep(std::string_view part)
    {
        m_tooLong = m_tooLong || m_line.size() + part.size() > kLongestMessage;
        if (m_tooLong)
            m_line.clear();
        else
            m_line += part;
    }
    std::string m_line;
    bool m_tooLong = false;
};

enum class Heard { Something, End, Nothing };

/// Waits a moment at most.
Heard listen(LineCutter& lines, McpServer& server)
{
    pollfd in { STDIN_FILENO, POLLIN, 0 };
    if (poll(&in, 1, kPollMs) <= 0)
        return Heard::Nothing;
    char bytes[65536];
    const ssize_t size = read(STDIN_FILENO, bytes, sizeof bytes);
    if (size < 0 && (errno == EINTR || errno == EAGAIN))
        return Heard::Nothing;
    if (size <= 0)
        return Heard::End;
    lines.add({ bytes, size_t(size) }, server);
    return Heard::Something;
}

/// Nobody is at the other end of stdout any more, which a write would only tell later. Waits a moment at most.
bool nobodyReads()
{
    pollfd out { STDOUT_FILENO, 0, 0 };
    return poll(&out, 1, kPollMs) > 0 && (out.revents & (POLLERR | POLLNVAL)) != 0;
}

/// Until stdin ends and all that it asked is answered, nobody reads the answers, or a signal comes.
Result<int> serve(McpServer& server, const CancelToken& stop)
{
    LineCutter lines;
    bool more = true;
    while (!stop.cancelled() && !server.gone() && (more || !server.idle())) {
        if (!more && nobodyReads())
            break;
        if (more && listen(lines, server) == Heard::End) {
            lines.finish(server);
            more = false;
        }
    }
    server.stop();
    if (stop.cancelled())
        return cancelled();
    QS_CHECK(stdoutWritten());
    return int(kDone);
}

Result<int> mcp(const McpCommand& o, Context& context)
{
    RunSettings settings;
    QS_TRY(settings.threads, threadCount(context.common));
    QS_TRY(settings.memoryLimit, memoryLimit(context.common));
    settings.activationCache = memoryLimitOrDefault(settings.memoryLimit) / (2 * AgentDesk::kMostSessions);
    QS_TRY(AllowedFolders folders, AllowedFolders::of(o.allow));
    const auto write = [](const std::string& line) { return writeOutput("-", line + "\n").ok(); };
    McpServer server(AgentDesk(std::move(folders), settings), write);
    return serve(server, context.cancel);
}

} // namespace

Command addMcp(CLI::App& app, Context& context)
{
    auto o = std::make_shared<McpCommand>();
    app.add_option("--allow", o->allow,
        "folders that files may be named in, for reading and writing; none given: the current folder. Links and '..' "
        "are followed before a path is judged");
    app.add_option("--threads", context.common.threads, "threads (default: all cores)");
    app.add_option("--memory-limit", context.common.memoryLimit, "bytes (default: 80 % of RAM)");
    app.footer(
        "Speaks JSON-RPC 2.0, one message a line, in versions 2024-11-05 to 2026-07-28 of the protocol. An agent's "
        "configuration names the command `quantscope-cli` with the arguments `mcp --allow FOLDER`. Ends with "
        "stdin, when everything that was asked is answered.");
    return [o](Context& c) { return mcp(*o, c); };
}

} // namespace qs::cli
