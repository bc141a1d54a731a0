// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files/out_of_memory.h"

#include "core/base/files/atomic_file.h"

#include <cstdlib>
#include <exception>
#include <new>
#include <unistd.h>

namespace qs {

namespace {

int g_exitCode = 1;

[[noreturn]] void onTerminate()
{
    try {
        if (const std::exception_ptr thrown = std::current_exception())
            std::rethrow_exception(thrown);
    } catch (const std::bad_alloc&) {
        AtomicFile::removeTemporaries();
        sayOutOfMemory();
        _exit(g_exitCode);
    } catch (...) { // a mistake of ours
    }
    std::abort();
}

} // namespace

void sayOutOfMemory()
{
    static const char text[]
        = "error: there is not enough memory; use smaller inputs, fewer samples or fewer threads\n";
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
}

void endWhereMemoryEnds(int exitCode)
{
    g_exitCode = exitCode;
    std::set_terminate(onTerminate);
}

} // namespace qs
