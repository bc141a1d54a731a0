// SPDX-License-Identifier: GPL-3.0-or-later
// Calls of the system as the program, the C++ library and libzip make them. What the C library calls by itself (in
// fwrite() and its kin) goes past here, so the functions of <cstdio> that it does this for are here too.
#include "tests/faults/fault_point.h"

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <type_traits>
#include <unistd.h>

using qs::test::failsNow;
using qs::test::Fault;

namespace {

template <class Function> Function* original(Function& /*of the same type*/, const char* name)
{
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

bool opensBadly() { return failsNow(Fault::Interrupted) || failsNow(Fault::Open); }
bool readsBadly() { return failsNow(Fault::Interrupted) || failsNow(Fault::Read); }
bool writesBadly() { return failsNow(Fault::Interrupted) || failsNow(Fault::Write); }

/// oneDNN does not look at what it gets for its code.
bool mapsBadly(const void* caller) { return qs::test::mindsMemory(caller) && failsNow(Fault::Map); }

/// How much of it is done.
size_t partRead(size_t bytes) { return bytes > 1 && failsNow(Fault::ShortRead) ? bytes / 2 : bytes; }
size_t partWritten(size_t bytes) { return bytes > 1 && failsNow(Fault::ShortWrite) ? bytes / 2 : bytes; }

mode_t modeOf(int flags, va_list arguments)
{
    return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(arguments, mode_t) : 0;
}

} // namespace

/// A call that fails with -1 or a null pointer and does nothing else.
#define QS_FAILING(result, failure, name, parameters, arguments, fails)                                                \
    result name parameters                                                                                             \
    {                                                                                                                  \
        static auto* const call = original(name, #name);                                                               \
        return fails ? failure : call arguments;                                                                       \
    }

// The headers say of some parameters that they are never null.
#pragma GCC diagnostic ignored "-Wnonnull-compare"

extern "C" {

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* argument) noexcept
{
    static auto* const call = original(pthread_create, "pthread_create");
    return failsNow(Fault::Thread) ? EAGAIN : call(thread, attributes, run, argument);
}

#define QS_OPEN(name)                                                                                                  \
    int name(const char* path, int flags, ...)                                                                         \
    {                                                                                                                  \
        va_list more;                                                                                                  \
        va_start(more, flags);                                                                                         \
        const mode_t mode = modeOf(flags, more);                                                                       \
        va_end(more);                                                                                                  \
        static auto* const call = original(name, #name);                                                               \
        return opensBadly() ? -1 : call(path, flags, mode);                                                            \
    }
#define QS_OPENAT(name)                                                                                                \
    int name(int folder, const char* path, int flags, ...)                                                             \
    {                                                                                                                  \
        va_list more;                                                                                                  \
        va_start(more, flags);                                                                                         \
        const mode_t mode = modeOf(flags, more);                                                                       \
        va_end(more);                                                                                                  \
        static auto* const call = original(name, #name);                                                               \
        return opensBadly() ? -1 : call(folder, path, flags, mode);                                                    \
    }
QS_OPEN(open)
QS_OPEN(open64)
QS_OPENAT(openat)
QS_OPENAT(openat64)
QS_FAILING(FILE*, nullptr, fopen, (const char* path, const char* mode), (path, mode), opensBadly())
QS_FAILING(FILE*, nullptr, fopen64, (const char* path, const char* mode), (path, mode), opensBadly())
QS_FAILING(FILE*, nullptr, fdopen, (int fd, const char* mode) noexcept, (fd, mode), opensBadly())
QS_FAILING(DIR*, nullptr, opendir, (const char* path), (path), opensBadly())
QS_FAILING(DIR*, nullptr, fdopendir, (int fd), (fd), opensBadly())
QS_FAILING(int, -1, dup, (int fd) noexcept, (fd), opensBadly())

QS_FAILING(ssize_t, -1, read, (int fd, void* data, size_t bytes), (fd, data, partRead(bytes)), readsBadly())
QS_FAILING(
    ssize_t, -1, pread, (int fd, void* data, size_t bytes, off_t at), (fd, data, partRead(bytes), at), readsBadly())
QS_FAILING(
    ssize_t, -1, pread64, (int fd, void* data, size_t bytes, off64_t at), (fd, data, partRead(bytes), at), readsBadly())
QS_FAILING(ssize_t, -1, readv, (int fd, const iovec* parts, int count), (fd, parts, count), readsBadly())
QS_FAILING(dirent*, nullptr, readdir, (DIR * folder), (folder), readsBadly())
QS_FAILING(dirent64*, nullptr, readdir64, (DIR * folder), (folder), readsBadly())
QS_FAILING(int, -1, fseeko, (FILE * file, off_t at, int from), (file, at, from), failsNow(Fault::Read))
QS_FAILING(int, -1, fseeko64, (FILE * file, off64_t at, int from), (file, at, from), failsNow(Fault::Read))

/// Less than was asked for is the end of the file or an error, which others ask the stream for.
size_t fread(void* data, size_t size, size_t count, FILE* file)
{
    static auto* const call = original(fread, "fread");
    if (!failsNow(Fault::Read))
        return call(data, size, count, file);
    file->_flags |= 0x20; // as ferror() sees it
    return 0;
}

QS_FAILING(void*, MAP_FAILED, mmap, (void* at, size_t bytes, int protection, int flags, int fd, off_t from) noexcept,
    (at, bytes, protection, flags, fd, from), mapsBadly(__builtin_return_address(0)))
QS_FAILING(void*, MAP_FAILED, mmap64,
    (void* at, size_t bytes, int protection, int flags, int fd, off64_t from) noexcept,
    (at, bytes, protection, flags, fd, from), mapsBadly(__builtin_return_address(0)))

QS_FAILING(int, -1, stat, (const char* path, struct stat* info) noexcept, (path, info), failsNow(Fault::Look))
QS_FAILING(int, -1, stat64, (const char* path, struct stat64* info) noexcept, (path, info), failsNow(Fault::Look))
QS_FAILING(int, -1, lstat, (const char* path, struct stat* info) noexcept, (path, info), failsNow(Fault::Look))
QS_FAILING(int, -1, lstat64, (const char* path, struct stat64* info) noexcept, (path, info), failsNow(Fault::Look))
QS_FAILING(int, -1, fstat, (int fd, struct stat* info) noexcept, (fd, info), failsNow(Fault::Look))
QS_FAILING(int, -1, fstat64, (int fd, struct stat64* info) noexcept, (fd, info), failsNow(Fault::Look))
QS_FAILING(int, -1, fstatat, (int folder, const char* path, struct stat* info, int flags) noexcept,
    (folder, path, info, flags), failsNow(Fault::Look))
QS_FAILING(int, -1, fstatat64, (int folder, const char* path, struct stat64* info, int flags) noexcept,
    (folder, path, info, flags), failsNow(Fault::Look))
QS_FAILING(int, -1, statx, (int folder, const char* path, int flags, unsigned mask, struct statx* info) noexcept,
    (folder, path, flags, mask, info), failsNow(Fault::Look))
QS_FAILING(int, -1, access, (const char* path, int mode) noexcept, (path, mode), failsNow(Fault::Look))
QS_FAILING(char*, nullptr, realpath, (const char* path, char* out) noexcept, (path, out), failsNow(Fault::Look))
QS_FAILING(ssize_t, -1, readlink, (const char* path, char* out, size_t bytes) noexcept, (path, out, bytes),
    failsNow(Fault::Look))
QS_FAILING(char*, nullptr, getcwd, (char* out, size_t bytes) noexcept, (out, bytes), failsNow(Fault::Look))

QS_FAILING(ssize_t, -1, write, (int fd, const void* data, size_t bytes), (fd, data, partWritten(bytes)), writesBadly())
QS_FAILING(ssize_t, -1, pwrite, (int fd, const void* data, size_t bytes, off_t at), (fd, data, partWritten(bytes), at),
    writesBadly())
QS_FAILING(ssize_t, -1, pwrite64, (int fd, const void* data, size_t bytes, off64_t at),
    (fd, data, partWritten(bytes), at), writesBadly())
QS_FAILING(ssize_t, -1, writev, (int fd, const iovec* parts, int count), (fd, parts, count), writesBadly())

QS_FAILING(int, -1, fsync, (int fd), (fd), failsNow(Fault::Sync))
QS_FAILING(int, -1, fdatasync, (int fd), (fd), failsNow(Fault::Sync))
QS_FAILING(int, -1, ftruncate, (int fd, off_t bytes) noexcept, (fd, bytes), failsNow(Fault::Sync))
QS_FAILING(int, -1, ftruncate64, (int fd, off64_t bytes) noexcept, (fd, bytes), failsNow(Fault::Sync))
QS_FAILING(int, -1, fchmod, (int fd, mode_t mode) noexcept, (fd, mode), failsNow(Fault::Sync))
QS_FAILING(int, -1, fchown, (int fd, uid_t owner, gid_t group) noexcept, (fd, owner, group), failsNow(Fault::Sync))
QS_FAILING(int, -1, flock, (int fd, int how) noexcept, (fd, how), failsNow(Fault::Sync))

/// As the system does it: whatever close() says, the number is free.
int close(int fd)
{
    static auto* const call = original(close, "close");
    const bool fails = failsNow(Fault::Sync);
    const int error = errno, result = call(fd);
    if (!fails)
        return result;
    errno = error;
    return -1;
}

QS_FAILING(int, -1, rename, (const char* from, const char* to) noexcept, (from, to), failsNow(Fault::Name))
QS_FAILING(int, -1, renameat, (int folder, const char* from, int toFolder, const char* to) noexcept,
    (folder, from, toFolder, to), failsNow(Fault::Name))
QS_FAILING(int, -1, renameat2, (int folder, const char* from, int toFolder, const char* to, unsigned flags) noexcept,
    (folder, from, toFolder, to, flags), failsNow(Fault::Name))
QS_FAILING(int, -1, link, (const char* from, const char* to) noexcept, (from, to), failsNow(Fault::Name))
QS_FAILING(int, -1, unlink, (const char* path) noexcept, (path), failsNow(Fault::Name))
QS_FAILING(
    int, -1, unlinkat, (int folder, const char* path, int flags) noexcept, (folder, path, flags), failsNow(Fault::Name))
QS_FAILING(int, -1, mkdir, (const char* path, mode_t mode) noexcept, (path, mode), failsNow(Fault::Name))
QS_FAILING(int, -1, rmdir, (const char* path) noexcept, (path), failsNow(Fault::Name))
}
