// SPDX-License-Identifier: GPL-3.0-or-later
// Loaded before a program (LD_PRELOAD): its write to a file, or its change of a name, of number QS_FAIL_AT (from 1)
// fails with the errno QS_FAIL_ERRNO, and a file QS_FAIL_MARK says that there was one.
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

std::atomic<int> g_calls = 0;

template <class Function> Function original(const char* name)
{
    return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

bool failsNow()
{
    const char* const at = std::getenv("QS_FAIL_AT");
    const char* const mark = std::getenv("QS_FAIL_MARK");
    if (!at || !mark || ++g_calls != std::atoi(at))
        return false;
    close(open(mark, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    const char* const error = std::getenv("QS_FAIL_ERRNO");
    errno = error ? std::atoi(error) : ENOSPC;
    return true;
}

bool failsNow(int fd)
{
    struct stat info { };
    return fd > STDERR_FILENO && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && failsNow();
}

} // namespace

extern "C" {

ssize_t write(int fd, const void* data, size_t bytes)
{
    return failsNow(fd) ? -1 : original<ssize_t (*)(int, const void*, size_t)>("write")(fd, data, bytes);
}

ssize_t pwrite(int fd, const void* data, size_t bytes, off_t at)
{
    return failsNow(fd) ? -1 : original<ssize_t (*)(int, const void*, size_t, off_t)>("pwrite")(fd, data, bytes, at);
}

int fsync(int fd) { return failsNow(fd) ? -1 : original<int (*)(int)>("fsync")(fd); }

int rename(const char* from, const char* to) noexcept
{
    return failsNow() ? -1 : original<int (*)(const char*, const char*)>("rename")(from, to);
}

int renameat2(int fromFolder, const char* from, int toFolder, const char* to, unsigned flags) noexcept
{
    return failsNow() ? -1
                      : original<int (*)(int, const char*, int, const char*, unsigned)>("renameat2")(
                          fromFolder, from, toFolder, to, flags);
}
}
