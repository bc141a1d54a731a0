// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"

#include "core/agent/attach/relay.h"
#include "core/agent/protocol/line_cutter.h"
#include "core/agent/protocol/mcp_server.h"
#include "core/base/work/memory.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <poll.h>
#include <unistd.h>

namespace qs::cli {

namespace {

constexpr int kPollMs = 50;

struct McpCommand {
    std::vector<std::string> allow;
    bool attach = false;
};

enum class Heard { Something, End, Nothing, Broken };

/// Waits a moment at most.
Heard listen(LineCutter& lines)
{
    pollfd in { STDIN_FILENO, POLLIN, 0 };
    if (poll(&in, 1, kPollMs) <= 0)
        return Heard::Nothing;
    char bytes[65536];
    const ssize_t size = read(STDIN_FILENO, bytes, sizeof bytes);
    if (size < 0 && (errno == EINTR || errno == EAGAIN))
        return Heard::Nothing;
    if (size <= 0)
        return size == 0 ? Heard::End : Heard::Broken;
    lines.add({ bytes, size_t(size) });
    return Heard::Something;
}

/// Nobody is at the other end of stdout any more, which a write would only tell later. Waits a moment at most.
bool nobodyReads()
{
    pollfd out { STDOUT_FILENO, 0, 0 };
    return poll(&out, 1, kPollMs) > 0 && (out.revents & (POLLERR | POLLNVAL)) != 0;
}

/// Until stdin ends and all that it asked is answered, nobody reads the answers, or a signal comes.
Result<int> serve(LineService& server, const CancelToken& stop)
{
    LineCutter lines({ [&](std::string_view line) { server.receive(line); }, [&] { server.receiveTooLong(); } });
    bool more = true;
    Status broken;
    while (!stop.cancelled() && !server.gone() && (more || !server.idle())) {
        if (!more && nobodyReads())
            break;
        const Heard heard = more ? listen(lines) : Heard::Nothing;
        if (heard == Heard::End)
            lines.finish();
        if (heard == Heard::Broken)
            broken = badInput("the standard input cannot be read: " + std::string(std::strerror(errno)), {},
                "look at the program or the disk that it comes from");
        more = more && heard != Heard::End && heard != Heard::Broken;
    }
    server.stop();
    QS_CHECK(broken);
    if (stop.cancelled())
        return cancelled();
    QS_CHECK(stdoutWritten());
    return int(kDone);
}

bool toStdout(const std::string& line) { return writeOutput("-", line + "\n").ok(); }

/// The window computes, and holds every path against the folders, which are judged here first.
Result<int> attached(const McpCommand& o, Context& context)
{
    if (context.common.threads || !context.common.memoryLimit.empty())
        return badUse("with --attach the window computes", "leave --threads and --memory-limit out");
    QS_TRY(const AllowedFolders folders, AllowedFolders::of(o.allow));
    const AttachRequest request { std::filesystem::current_path().string(), folders.folders() };
    QS_TRY(Relay::Attached window, Relay::attach(request));
    if (window.windows > 1)
        printWarnings(
            { "attached to '" + window.name + "', the newest of " + std::to_string(window.windows) + " windows" },
            context.common);
    Relay relay(request, std::move(window), toStdout);
    QS_TRY(const int code, serve(relay, context.cancel));
    QS_CHECK(relay.lost());
    return code;
}

Result<int> mcp(const McpCommand& o, Context& context)
{
    if (o.attach)
        return attached(o, context);
    RunSettings settings;
    QS_TRY(settings.threads, threadCount(context.common));
    QS_TRY(settings.memoryLimit, memoryLimit(context.common));
    settings.activationCache = memoryLimitOrDefault(settings.memoryLimit) / (2 * AgentDesk::kMostSessions);
    QS_TRY(AllowedFolders folders, AllowedFolders::of(o.allow));
    McpServer server(AgentDesk(std::move(folders), settings), toStdout);
    return serve(server, context.cancel);
}

} // namespace

Command addMcp(CLI::App& app, Context& context)
{
    auto o = std::make_shared<McpCommand>();
    app.add_option("--allow", o->allow,
        "folders that files may be named in, for reading and writing; none given: the current folder. Links and '..' "
        "are followed before a path is judged");
    app.add_flag("--attach", o->attach,
        "takes part in the window that was opened last of those that let agents attach (quantscope --serve): the agent "
        "sees and edits what its person sees and can undo or refuse");
    app.add_option("--threads", context.common.threads, "threads (default: all cores)");
    app.add_option("--memory-limit", context.common.memoryLimit, "bytes (default: 80 % of RAM)");
    app.footer(
        "Speaks JSON-RPC 2.0, one message a line, in versions 2024-11-05 to 2026-07-28 of the protocol. An agent's "
        "configuration names the command `quantscope-cli` with the arguments `mcp --allow FOLDER`. Ends with "
        "stdin, when everything that was asked is answered.");
    return [o](Context& c) { return mcp(*o, c); };
}

} // namespace qs::cli
