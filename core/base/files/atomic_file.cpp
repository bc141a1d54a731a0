// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files/atomic_file.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace qs {

namespace {

/// Paths as a signal handler may read them: no locks, no allocation. `state` 0 = free, 1 = being filled, 2 = in use.
struct TemporaryPath {
    std::atomic<int> state { 0 };
    char path[PATH_MAX] {};
};
std::array<TemporaryPath, 16> g_temporaries;

/// The path behind symbolic links, so that a link stays one.
std::string resolved(const std::string& path)
{
    char* real = realpath(path.c_str(), nullptr);
    if (!real)
        return path;
    std::string result = real;
    std::free(real);
    return result;
}

} // namespace

void AtomicFile::remember()
{
    for (size_t i = 0; i < g_temporaries.size(); ++i) {
        int expected = 0;
        TemporaryPath& slot = g_temporaries[i];
        if (m_temporary.size() >= PATH_MAX || !slot.state.compare_exchange_strong(expected, 1))
            continue;
        std::memcpy(slot.path, m_temporary.c_str(), m_temporary.size() + 1);
        slot.state = 2;
        m_slot = static_cast<int>(i);
        return;
    }
}

void AtomicFile::forget()
{
    if (m_slot >= 0)
        g_temporaries[static_cast<size_t>(std::exchange(m_slot, -1))].state = 0;
}

void AtomicFile::removeTemporaries() noexcept
{
    for (const TemporaryPath& slot : g_temporaries)
        if (slot.state == 2)
            unlink(slot.path);
}

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
    if (stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) { // /dev/null, a pipe
        file.m_fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
        if (file.m_fd < 0)
            return file.failed("cannot be written");
        return file;
    }
    file.m_path = resolved(path);
    std::string name = file.m_path + ".XXXXXX";
    std::vector<char> buffer(name.begin(), name.end());
    buffer.push_back('\0');
    file.m_fd = mkstemp(buffer.data());
    if (file.m_fd < 0)
        return file.failed("cannot be written");
    file.m_temporary = buffer.data();
    file.remember();
    const mode_t mask = umask(0);
    umask(mask);
    fchmod(file.m_fd, 0666 & ~mask);
    return file;
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : m_path(std::move(other.m_path))
    , m_temporary(std::exchange(other.m_temporary, {}))
    , m_fd(std::exchange(other.m_fd, -1))
    , m_slot(std::exchange(other.m_slot, -1))
{
}

AtomicFile::~AtomicFile()
{
    if (m_fd >= 0)
        close(m_fd);
    if (!m_temporary.empty())
        unlink(m_temporary.c_str());
    forget();
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
    if (m_temporary.empty())
        return {};
    if (std::rename(m_temporary.c_str(), m_path.c_str()) != 0)
        return failed("cannot be written");
    m_temporary.clear();
    forget();
    return {};
}

Status writeFile(const std::string& path, std::string_view bytes)
{
    QS_TRY(AtomicFile file, AtomicFile::create(path));
    QS_CHECK(file.write(bytes));
    return file.commit();
}

} // namespace qs
