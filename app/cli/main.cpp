// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"

#include "core/base/files/atomic_file.h"
#include "core/base/files/out_of_memory.h"
#include "core/base/files/standard_streams.h"
#include "core/base/issue_text.h"
#include "core/base/text/one_line.h"
#include "core/base/thrown_issue.h"
#include "core/base/version.h"
#include "core/base/work/memory.h"

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
    case qs::IssueKind::NoMemory:
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

int failWithoutMemory()
{
    qs::sayOutOfMemory();
    return qs::cli::kBadInput;
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
    /// Something was not written, since there was no memory for it.
    bool ranOut() const { return m_ranOut; }

private:
    /// Lines do not wait for what comes behind them.
    std::streamsize xsputn(const char* text, std::streamsize size) override
    try {
        const std::streamsize taken = std::stringbuf::xsputn(text, size);
        return std::find(text, text + size, '\n') == text + size || pass() ? taken : 0;
    } catch (const std::bad_alloc&) { // streams keep to themselves what is thrown here
        m_ranOut = true;
        return 0;
    }
    int overflow(int letter) override
    try {
        return std::stringbuf::overflow(letter);
    } catch (const std::bad_alloc&) {
        m_ranOut = true;
        return traits_type::eof();
    }
    int sync() override
    try {
        return pass() ? m_target->pubsync() : -1;
    } catch (const std::bad_alloc&) {
        m_ranOut = true;
        return -1;
    }
    bool pass()
    {
        const std::string text = qs::visible(str());
        str({});
        const auto size = static_cast<std::streamsize>(text.size());
        return m_target->sputn(text.data(), size) == size;
    }

    std::ostream& m_stream;
    std::streambuf* m_target;
    bool m_ranOut = false;
};

using Commands = std::vector<std::pair<CLI::App*, qs::cli::Command>>;

/// With what a run that came to its end has to say on stdout, if it can.
int ended(int code)
{
    const qs::Status written = qs::cli::stdoutWritten();
    return code != qs::cli::kDone || written.ok() ? code : fail(written.issue());
}

/// Carries out the command that was given, if it was.
int run(const Commands& commands, qs::cli::Context& context)
{
    g_cancel = &context.cancel;
    for (const int signal : { SIGINT, SIGTERM, SIGHUP })
        handle(signal);
    for (const int signal : { SIGPIPE, SIGXFSZ }) // the write that meets them says what is wrong
        std::signal(signal, SIG_IGN);
    for (const auto& [command, execute] : commands)
        if (command->parsed()) {
            const qs::Result<int> result = execute(context);
            clearProgress(context.common);
            return result.ok() ? ended(*result) : fail(result.issue());
        }
    return qs::cli::kInternal;
}

/// What the parser says, in the words of all others.
std::string parseFault(const CLI::ParseError& error)
{
    const std::string text = qs::oneLine(error.what());
    constexpr std::string_view kBegin = "Could not convert: ", kBetween = " = "; // none but numbers are converted
    const size_t between = text.find(kBetween);
    if (!text.starts_with(kBegin) || between == std::string::npos)
        return text;
    return text.substr(kBegin.size(), between - kBegin.size()) + " '" + text.substr(between + kBetween.size())
        + "' is no number that it takes";
}

int parseAndRun(int argc, char** argv)
{
    CLI::App app("Debug quantized ONNX models: see where the error is made.", "quantscope-cli");
    app.set_version_flag("--version", std::string("quantscope-cli ") + qs::kVersion);
    app.require_subcommand(1);
    app.footer("`quantscope-cli COMMAND --help` documents each command.");
    qs::cli::Context context;
    const Commands commands = qs::cli::addCommands(app, context);
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
        const bool known = argc > 1 && argv[1][0] != '-'; // others were refused
        std::cerr << "error: " << parseFault(e) << "; see `quantscope-cli " << (known ? argv[1] + std::string(" ") : "")
                  << "--help`\n";
        return qs::cli::kBadUse;
    }
    return run(commands, context);
}

int runSafely(int argc, char** argv)
try {
    return parseAndRun(argc, argv);
} catch (const std::bad_alloc&) {
    return failWithoutMemory();
} catch (const std::exception& e) {
    return fail(qs::issueOfThrown(e));
}

} // namespace

int main(int argc, char** argv)
{
    qs::keepStandardStreams();
    qs::joinFreedMemory();
    qs::endWhereMemoryEnds(qs::cli::kBadInput);
    int code = 0;
    bool ranOut = false;
    try {
        const CleanOutput cleanOut(std::cout), cleanErr(std::cerr);
        code = runSafely(argc, argv);
        std::cout.flush();
        ranOut = cleanOut.ranOut() || cleanErr.ranOut();
    } catch (const std::bad_alloc&) { // even for a sentence
        ranOut = true;
    }
    return ranOut ? failWithoutMemory() : code;
}
