// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files/regular_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace qs {

bool readAt(int file, uint64_t offset, std::span<std::byte> out)
{
    while (!out.empty()) {
        const ssize_t n = pread(file, out.data(), out.size(), static_cast<off_t>(offset));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        out = out.subspan(static_cast<size_t>(n));
        offset += static_cast<uint64_t>(n);
    }
    return true;
}

Result<RegularFile> RegularFile::open(const std::string& path)
{
    const auto unreadable = [&] {
        return badInput(std::string("cannot be read: ") + std::strerror(errno), path, "check the path and permissions");
    };
    // O_NONBLOCK: opening a pipe does not wait for its writer. Of regular files it changes nothing.
    RegularFile file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), 0);
    struct stat info { };
    if (file.m_file < 0 && errno == ENXIO) // a socket
        return badInput("is not a regular file", path, "save it to a file first");
    if (file.m_file < 0 || fstat(file.m_file, &info) != 0)
        return unreadable();
    if (S_ISDIR(info.st_mode))
        return badInput("cannot be read: it is a folder", path, "give a file in it");
    if (!S_ISREG(info.st_mode))
        return badInput("is not a regular file", path, "save it to a file first");
    file.m_size = static_cast<uint64_t>(info.st_size);
    return file;
}

RegularFile::RegularFile(RegularFile&& other) noexcept
    : m_file(std::exchange(other.m_file, -1))
    , m_size(other.m_size)
{
}

RegularFile::~RegularFile()
{
    if (m_file >= 0)
        close(m_file);
}

} // namespace qs
