// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"

#include "core/base/files/atomic_file.h"
#include "core/base/files/standard_streams.h"
#include "core/base/issue_text.h"
#include "core/base/text/one_line.h"
#include "core/base/version.h"

#include <algorithm>
#include <csignal>
#include <exception>
#include <iostream>
#include <new>
#include <ostream>
#include <sstream>
#include <sys/time.h>
#include <unistd.h>

namespace {

qs::CancelToken* g_cancel = nullptr; // read by the signal handler only

/// The work did not stop by itself soon after a signal: one step of it takes too long.
void onOverdue(int)
{
    static const char text[] = "error: cancelled\n";
    qs::AtomicFile::removeTemporaries();
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
    _exit(qs::cli::kCancelled);
}

void onSignal(int signal)
{
    g_cancel->cancel();
    std::signal(signal, SIG_DFL); // a second signal may kill
    std::signal(SIGALRM, onOverdue);
    const itimerval soon { { 0, 0 }, { 0, 600'000 } };
    setitimer(ITIMER_REAL, &soon, nullptr);
}

/// Unless whoever started the program wants it to go on.
void handle(int signal)
{
    if (std::signal(signal, onSignal) == SIG_IGN)
        std::signal(signal, SIG_IGN);
}

int exitCode(const qs::Issue& issue)
{
    switch (issue.kind) {
    case qs::IssueKind::BadUse:
        return qs::cli::kBadUse;
    case qs::IssueKind::BadInput:
        return qs::cli::kBadInput;
    case qs::IssueKind::Cancelled:
        return qs::cli::kCancelled;
    case qs::IssueKind::Internal:
        return qs::cli::kInternal;
    }
    return qs::cli::kInternal;
}

int fail(const qs::Issue& issue)
{
    std::cerr << "error: " << qs::issueText(issue) << '\n';
    return exitCode(issue);
}

/// While it lives, whatever is written to the stream becomes visible text: names out of files must not give orders to a
/// terminal.
class CleanOutput : private std::stringbuf {
public:
    explicit CleanOutput(std::ostream& stream)
        : m_stream(stream)
        , m_target(stream.rdbuf(this))
    {
    }
    ~CleanOutput() override
    {
        m_stream.flush();
        m_stream.rdbuf(m_target);
    }
    CleanOutput(const CleanOutput&) = delete;
    CleanOutput& operator=(const CleanOutput&) = delete;

private:
    /// Lines do not wait for what comes behind them.
    std::streamsize xsputn(const char* text, std::streamsize size) override
    {
        const std::streamsize taken = std::stringbuf::xsputn(text, size);
        return std::find(text, text + size, '\n') == text + size || pass() ? taken : 0;
    }
    int sync() override { return pass() ? m_target->pubsync() : -1; }
    bool pass()
    {
        const std::string text = qs::visible(str());
        str({});
        const auto size = static_cast<std::streamsize>(text.size());
        return m_target->sputn(text.data(), size) == size;
    }

    std::ostream& m_stream;
    std::streambuf* m_target;
};

/// With what a run that came to its end has to say on stdout, if it can.
int ended(int code)
{
    const qs::Status written = qs::cli::stdoutWritten();
    return code != qs::cli::kDone || written.ok() ? code : fail(written.issue());
}

} // namespace

int main(int argc, char** argv)
{
    using namespace qs::cli;
    qs::keepStandardStreams();
    const CleanOutput cleanOut(std::cout), cleanErr(std::cerr);
    CLI::App app("Debug quantized ONNX models: see where the error is made.", "quantscope-cli");
    app.set_version_flag("--version", std::string("quantscope-cli ") + qs::kVersion);
    app.require_subcommand(1);
    app.footer("`quantscope-cli COMMAND --help` documents each command.");
    Context context;
    const auto commands = addCommands(app, context);
    if (argc > 1 && argv[1][0] != '-'
        && std::ranges::none_of(commands, [&](const auto& c) { return c.first->get_name() == argv[1]; }))
        return fail(qs::badUse("there is no command '" + std::string(argv[1]) + "'", "see `quantscope-cli --help`"));
    if (std::any_of(argv + 1, argv + argc, [](const char* a) { return *a == '\0'; }))
        return fail(qs::badUse("an argument is empty", "give every option a value"));
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& e) { // --help, --version
        return ended(app.exit(e));
    } catch (const CLI::ParseError& e) {
        std::cerr << "error: " << qs::oneLine(e.what()) << "; see `quantscope-cli --help`\n";
        return kBadUse;
    }
    g_cancel = &context.cancel;
    for (const int signal : { SIGINT, SIGTERM, SIGHUP })
        handle(signal);
    for (const int signal : { SIGPIPE, SIGXFSZ }) // the write that meets them says what is wrong
        std::signal(signal, SIG_IGN);
    try {
        for (const auto& [command, execute] : commands)
            if (command->parsed()) {
                const qs::Result<int> result = execute(context);
                clearProgress(context.common);
                return result.ok() ? ended(*result) : fail(result.issue());
            }
    } catch (const std::bad_alloc&) {
        return fail(qs::badInput("there is not enough memory", {}, "use --limit, fewer --threads or smaller inputs"));
    } catch (const std::exception& e) {
        return fail(qs::internalError(std::string("unexpected: ") + e.what()));
    }
    return kInternal;
}
