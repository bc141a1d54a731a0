// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/faults/fault_point.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fcntl.h>

namespace qs::test {

namespace {

struct Range {
    uintptr_t begin = 0, end = 0;
};

FaultSheet* g_sheet = nullptr; ///< null until main() begins
std::array<Range, 2> g_minding; ///< the program, libzip
thread_local bool t_telling = false; ///< which asks for memory itself

int noteRange(dl_phdr_info* info, size_t /*size*/, void* /*none*/)
{
    const bool program = info->dlpi_name[0] == '\0';
    if (!program && !std::strstr(info->dlpi_name, "/libzip.so"))
        return 0;
    for (int i = 0; i < info->dlpi_phnum; ++i)
        if (const auto& part = info->dlpi_phdr[i]; part.p_type == PT_LOAD && (part.p_flags & PF_X)) {
            const uintptr_t begin = info->dlpi_addr + part.p_vaddr;
            g_minding[program ? 0 : 1] = { begin, begin + part.p_memsz };
        }
    return 0;
}

void begin()
{
    const char* const path = std::getenv("QS_FAULT_SHEET");
    const int fd = path ? int(syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC)) : -1;
    if (fd < 0)
        return;
    void* const page = reinterpret_cast<void*>(
        syscall(SYS_mmap, nullptr, sizeof(FaultSheet), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
    syscall(SYS_close, fd);
    dl_iterate_phdr(noteRange, nullptr);
    if (page != MAP_FAILED)
        g_sheet = static_cast<FaultSheet*>(page);
}

void tellWhere()
{
    t_telling = true;
    std::array<void*, 40> frames {};
    backtrace_symbols_fd(frames.data(), backtrace(frames.data(), int(frames.size())), STDERR_FILENO);
    t_telling = false;
}

using Main = int (*)(int, char**, char**);
Main g_main = nullptr;

int disturbedMain(int argc, char** argv, char** environment)
{
    begin();
    return g_main(argc, argv, environment);
}

} // namespace

bool failsNow(Fault fault)
{
    if (!g_sheet || t_telling)
        return false;
    FaultSheet& sheet = *g_sheet;
    const auto kind = static_cast<uint32_t>(fault);
    if (++sheet.calls[kind] != sheet.at || sheet.fault != kind)
        return false;
    sheet.failed = 1;
    if (sheet.told != 0)
        tellWhere();
    errno = sheet.error;
    return true;
}

bool mindsMemory(const void* caller)
{
    const auto at = reinterpret_cast<uintptr_t>(caller);
    for (const Range& range : g_minding)
        if (at >= range.begin && at < range.end)
            return true;
    return false;
}

} // namespace qs::test

/// What the program's libraries do before main() is not disturbed.
extern "C" int __libc_start_main(
    int (*main)(int, char**, char**), int argc, char** argv, void (*init)(), void (*fini)(), void (*rtld)(), void* end)
{
    using Start = int (*)(qs::test::Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
    qs::test::g_main = main;
    const auto start = reinterpret_cast<Start>(dlsym(RTLD_NEXT, "__libc_start_main"));
    return start(qs::test::disturbedMain, argc, argv, init, fini, rtld, end);
}
