// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/atomic_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace qs {

Issue AtomicFile::failed(const std::string& what) const
{
    return badInput(
        what + ": " + std::strerror(errno), m_path, "give a path in a folder that exists and can be written");
}

Result<AtomicFile> AtomicFile::create(const std::string& path)
{
    AtomicFile file;
    file.m_path = path;
    struct stat info { };
    if (stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode))
        return badInput("is a folder", path, "give the path of a file to write");
    std::string name = path + ".XXXXXX";
    std::vector<char> buffer(name.begin(), name.end());
    buffer.push_back('\0');
    file.m_fd = mkstemp(buffer.data());
    if (file.m_fd < 0)
        return file.failed("cannot be written");
    file.m_temporary = buffer.data();
    const mode_t mask = umask(0);
    umask(mask);
    fchmod(file.m_fd, 0666 & ~mask);
    return file;
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : m_path(std::move(other.m_path))
    , m_temporary(std::exchange(other.m_temporary, {}))
    , m_fd(std::exchange(other.m_fd, -1))
{
}

AtomicFile::~AtomicFile()
{
    if (m_fd >= 0)
        close(m_fd);
    if (!m_temporary.empty())
        unlink(m_temporary.c_str());
}

Status AtomicFile::write(std::string_view bytes)
{
    while (!bytes.empty()) {
        const ssize_t n = ::write(m_fd, bytes.data(), bytes.size());
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return failed("cannot be written");
        bytes.remove_prefix(static_cast<size_t>(n));
    }
    return {};
}

Status AtomicFile::commit()
{
    if (m_fd >= 0 && close(std::exchange(m_fd, -1)) != 0)
        return failed("cannot be written");
    if (std::rename(m_temporary.c_str(), m_path.c_str()) != 0)
        return failed("cannot be written");
    m_temporary.clear();
    return {};
}

} // namespace qs
