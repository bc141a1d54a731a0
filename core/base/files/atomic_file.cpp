// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files/atomic_file.h"

#include "core/base/files/file_identity.h"
#include "core/base/files/neighbour.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace qs {

namespace {

/// Paths as a signal handler may read them: no locks, no allocation. `state` 0 = free, 1 = being filled, 2 = in use.
struct TemporaryPath {
    std::atomic<int> state { 0 };
    char path[PATH_MAX] {};
};
std::array<TemporaryPath, 16> g_temporaries;

std::string folderOf(const std::string& path)
{
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    return folder.empty() ? "." : folder.string();
}

bool isFolder(const std::string& path)
{
    struct stat info { };
    return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

/// Replacing the file would leave the standard output where nobody finds it.
bool isStandardStream(const struct stat& info)
{
    for (const int fd : { STDOUT_FILENO, STDERR_FILENO }) {
        struct stat stream { };
        if (fstat(fd, &stream) == 0 && stream.st_dev == info.st_dev && stream.st_ino == info.st_ino)
            return true;
    }
    return false;
}

/// The owner, the group and the permissions that the file had. Where the group cannot be kept, it may do no more than
/// everybody.
void keepRights(int fd, const struct stat& old)
{
    mode_t mode = old.st_mode & 07777;
    [[maybe_unused]] const int owned = fchown(fd, old.st_uid, static_cast<gid_t>(-1));
    if (fchown(fd, static_cast<uid_t>(-1), old.st_gid) != 0)
        mode = (mode & ~mode_t(070)) | ((mode & 07) << 3);
    fchmod(fd, mode);
}

/// Puts on the disk what is to be found there after the power fails. Not every file system can.
bool synced(int fd) { return fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP; }

void syncFolder(const std::string& path)
{
    const int folder = open(folderOf(path).c_str(), O_RDONLY | O_CLOEXEC | O_DIRECTORY);
    if (folder < 0)
        return;
    fsync(folder);
    close(folder);
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

Issue AtomicFile::writeIssue(int error) const
{
    const char* remedy = error == ENOSPC || error == EDQUOT || error == EFBIG
        ? "make room on the disk, or give a path on another one"
        : "give a path in a folder that exists and can be written";
    return badInput(std::string("cannot be written: ") + std::strerror(error), m_given, remedy);
}

Result<AtomicFile> AtomicFile::create(const std::string& path)
{
    AtomicFile file;
    file.m_given = file.m_path = path;
    struct stat info { };
    const bool exists = stat(path.c_str(), &info) == 0;
    if (!exists && errno != ENOENT)
        return file.writeIssue(errno);
    if (exists && isFolder(path))
        return badInput("is a folder", path, "give the path of a file to write");
    if (exists && !S_ISREG(info.st_mode))
        QS_CHECK(file.openDirectly(info.st_mode));
    else if (exists && isStandardStream(info))
        return badInput("is where the standard output or the messages already go", path, "give another file, or -");
    else
        QS_CHECK(file.openNeighbour(exists));
    return file;
}

Status AtomicFile::openDirectly(mode_t mode)
{
    if (!S_ISCHR(mode) && !S_ISFIFO(mode))
        return badInput("is neither a file nor a pipe", m_given, "give the path of a file to write");
    m_fd = open(m_path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY); // of a pipe: when its reader is there
    if (m_fd < 0)
        return writeIssue(errno);
    return {};
}

Status AtomicFile::openNeighbour(bool replaces)
{
    m_path = resolvedPath(m_path);
    Neighbour made = makeNeighbour(folderOf(m_path), replaces ? 0600 : 0666);
    if (made.fd < 0)
        return writeIssue(errno);
    m_fd = made.fd;
    m_temporary = std::move(made.path);
    remember();
    return {};
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : m_given(std::move(other.m_given))
    , m_path(std::move(other.m_path))
    , m_temporary(std::exchange(other.m_temporary, {}))
    , m_removed(std::move(other.m_removed))
    , m_old(other.m_old)
    , m_fd(std::exchange(other.m_fd, -1))
    , m_slot(std::exchange(other.m_slot, -1))
{
}

AtomicFile::~AtomicFile()
{
    if (!m_temporary.empty())
        unlink(m_temporary.c_str());
    if (m_fd >= 0)
        close(m_fd);
    forget();
}

Status AtomicFile::write(std::string_view bytes)
{
    while (!bytes.empty()) {
        const ssize_t n = ::write(m_fd, bytes.data(), bytes.size());
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return writeIssue(errno);
        bytes.remove_prefix(static_cast<size_t>(n));
    }
    return {};
}

/// All that can fail before names change.
Status AtomicFile::finish()
{
    if (m_temporary.empty()) {
        if (close(std::exchange(m_fd, -1)) != 0)
            return writeIssue(errno);
        return {};
    }
    struct stat old { };
    if (stat(m_path.c_str(), &old) == 0)
        keepRights(m_fd, old);
    if (!synced(m_fd))
        return writeIssue(errno);
    return {};
}

/// The neighbour stays open, thus locked, until it has its name.
Status AtomicFile::takeName(bool keepOld)
{
    if (m_temporary.empty())
        return {};
    if (isFolder(m_path)) // which could be exchanged, too
        return writeIssue(EISDIR);
    if (keepOld && renameat2(AT_FDCWD, m_temporary.c_str(), AT_FDCWD, m_path.c_str(), RENAME_EXCHANGE) == 0) {
        m_old = Old::Kept;
        return {};
    }
    const bool none = keepOld && errno == ENOENT;
    if (std::rename(m_temporary.c_str(), m_path.c_str()) != 0)
        return writeIssue(errno);
    m_old = none ? Old::None : Old::Gone;
    m_temporary.clear();
    forget();
    return {};
}

void AtomicFile::giveBackName()
{
    if (m_old == Old::Kept)
        std::rename(m_temporary.c_str(), m_path.c_str());
    else if (m_old == Old::None)
        unlink(m_path.c_str());
    m_temporary.clear();
    forget();
}

void AtomicFile::conclude()
{
    if (m_fd < 0)
        return;
    if (m_old == Old::Kept)
        unlink(std::exchange(m_temporary, {}).c_str());
    forget();
    close(std::exchange(m_fd, -1));
    syncFolder(m_path);
    for (const std::string& path : m_removed)
        unlink(path.c_str());
}

Status AtomicFile::commitAll(std::vector<AtomicFile>& files)
{
    for (AtomicFile& file : files)
        QS_CHECK(file.finish());
    for (size_t i = 0; i < files.size(); ++i) {
        Status named = files[i].takeName(files.size() > 1);
        if (named.ok())
            continue;
        while (i-- > 0)
            files[i].giveBackName();
        return named;
    }
    for (AtomicFile& file : files)
        file.conclude();
    return {};
}

Status AtomicFile::commit()
{
    QS_CHECK(finish());
    QS_CHECK(takeName(false));
    conclude();
    return {};
}

Status canBeWritten(const std::string& path)
{
    struct stat info { };
    const bool pipe = stat(path.c_str(), &info) == 0 && S_ISFIFO(info.st_mode);
    if (!pipe) {
        QS_CHECK(AtomicFile::create(path));
        return {};
    }
    if (access(path.c_str(), W_OK) != 0) // to open it would be the end for its reader
        return badInput(std::string("cannot be written: ") + std::strerror(errno), path, "give another path");
    return {};
}

Status writeFile(const std::string& path, std::string_view bytes)
{
    QS_TRY(AtomicFile file, AtomicFile::create(path));
    QS_CHECK(file.write(bytes));
    return file.commit();
}

} // namespace qs
