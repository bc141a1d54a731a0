// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/faults/disturbed_run.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace qs::test {

namespace {

constexpr int kPatienceMs = 30'000;

[[noreturn]] void giveUp(const char* what)
{
    std::perror(what);
    std::abort();
}

int emptyFile(const char* name)
{
    const int fd = memfd_create(name, 0);
    if (fd < 0)
        giveUp(name);
    return fd;
}

std::string textOf(int fd)
{
    std::string text(static_cast<size_t>(lseek(fd, 0, SEEK_END)), '\0');
    if (pread(fd, text.data(), text.size(), 0) != ssize_t(text.size()))
        giveUp("what was printed");
    return text;
}

void clear(int fd)
{
    if (ftruncate(fd, 0) != 0 || lseek(fd, 0, SEEK_SET) != 0)
        giveUp("what was printed");
}

std::vector<char*> pointers(std::vector<std::string>& texts)
{
    std::vector<char*> all;
    for (std::string& text : texts)
        all.push_back(text.data());
    all.push_back(nullptr);
    return all;
}

/// The test's, and what disturbs.
std::vector<std::string> environmentWith(const std::string& sheet, const std::string& temporary)
{
    std::vector<std::string> all;
    for (char** entry = environ; *entry; ++entry)
        all.emplace_back(*entry);
    all.push_back("LD_PRELOAD=" QS_FAULTS);
    all.push_back("QS_FAULT_SHEET=" + sheet);
    all.push_back("TMPDIR=" + temporary);
    return all;
}

/// Of a process that is our child.
void awaitEnd(pid_t process, Ending& ending)
{
    pollfd end { int(syscall(SYS_pidfd_open, process, 0)), POLLIN, 0 };
    if (end.fd < 0)
        giveUp("pidfd_open");
    if (poll(&end, 1, kPatienceMs) != 1) {
        ending.hung = true;
        kill(process, SIGKILL);
    }
    close(end.fd);
    int status = 0;
    if (waitpid(process, &status, 0) != process)
        giveUp("waitpid");
    ending.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    ending.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

} // namespace

Disturber::Disturber(const std::filesystem::path& folder)
    : m_sheetPath((folder / "sheet").string())
    , m_out(emptyFile("out"))
    , m_messages(emptyFile("messages"))
{
    const int fd = open(m_sheetPath.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, sizeof(FaultSheet)) != 0)
        giveUp(m_sheetPath.c_str());
    void* const page = mmap(nullptr, sizeof(FaultSheet), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (page == MAP_FAILED)
        giveUp(m_sheetPath.c_str());
    m_sheet = static_cast<FaultSheet*>(page);
}

Disturber::~Disturber()
{
    munmap(m_sheet, sizeof(FaultSheet));
    close(m_out);
    close(m_messages);
}

Ending Disturber::run(const std::vector<std::string>& command, const std::string& input, const std::string& temporary,
    const Disturbance& disturbance)
{
    m_sheet->fault = static_cast<uint32_t>(disturbance.fault);
    m_sheet->at = disturbance.at;
    m_sheet->error = disturbance.error;
    m_sheet->told = disturbance.told ? 1 : 0;
    m_sheet->failed = 0;
    for (auto& calls : m_sheet->calls)
        calls = 0;
    clear(m_out);
    clear(m_messages);
    posix_spawn_file_actions_t streams;
    posix_spawn_file_actions_init(&streams);
    posix_spawn_file_actions_addopen(&streams, STDIN_FILENO, input.c_str(), O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&streams, m_out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&streams, m_messages, STDERR_FILENO);
    auto arguments = command;
    auto environment = environmentWith(m_sheetPath, temporary);
    pid_t process = 0;
    const int error = posix_spawn(
        &process, command.front().c_str(), &streams, nullptr, pointers(arguments).data(), pointers(environment).data());
    posix_spawn_file_actions_destroy(&streams);
    if (error != 0) {
        errno = error;
        giveUp(command.front().c_str());
    }
    Ending ending;
    awaitEnd(process, ending);
    ending.disturbed = m_sheet->failed != 0;
    for (size_t kind = 0; kind < ending.calls.size(); ++kind)
        ending.calls[kind] = m_sheet->calls[kind];
    ending.out = textOf(m_out);
    ending.messages = textOf(m_messages);
    return ending;
}

} // namespace qs::test
