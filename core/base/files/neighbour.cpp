// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files/neighbour.h"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <mutex>
#include <random>
#include <set>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace qs {

namespace {

constexpr std::string_view kNeighbourPrefix = ".quantscope-";
constexpr size_t kDrawn = 10; ///< characters that follow
constexpr int kMostDraws = 100;

std::string drawnName()
{
    thread_local std::random_device device;
    std::string name(kNeighbourPrefix);
    for (size_t i = 0; i < kDrawn; ++i)
        name += static_cast<char>('a' + device() % 26);
    return name;
}

bool isNeighbourName(std::string_view name)
{
    return name.size() == kNeighbourPrefix.size() + kDrawn && name.starts_with(kNeighbourPrefix);
}

/// Whether the name still leads to the open file.
bool hasName(int fd, const std::string& path)
{
    struct stat open {
    }, named {};
    return fstat(fd, &open) == 0 && lstat(path.c_str(), &named) == 0 && open.st_dev == named.st_dev
        && open.st_ino == named.st_ino;
}

void removeIfDead(const std::string& path)
{
    int fd = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && hasName(fd, path))
        unlink(path.c_str());
    close(fd);
}

/// Once a process and folder.
void removeWhatDeadProcessesLeft(const std::string& folder)
{
    static std::mutex mutex;
    static std::set<std::string> done;
    {
        const std::lock_guard lock(mutex);
        if (!done.insert(folder).second)
            return;
    }
    std::error_code error;
    for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
        if (isNeighbourName(it->path().filename().native()))
            removeIfDead(it->path().string());
}

} // namespace

Neighbour makeNeighbour(const std::string& folder, mode_t mode)
{
    removeWhatDeadProcessesLeft(folder);
    for (int i = 0; i < kMostDraws; ++i) {
        std::string path = folder + "/" + drawnName();
        const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
        if (fd < 0 && errno == EEXIST)
            continue;
        if (fd < 0)
            return {};
        // Where the file system knows no locks, nobody takes it for dead either.
        if (flock(fd, LOCK_EX) != 0 || hasName(fd, path))
            return { fd, std::move(path) };
        close(fd); // taken for dead before it was locked
    }
    errno = EEXIST;
    return {};
}

int makeUnnamedFile(const std::string& folder)
{
    const Neighbour file = makeNeighbour(folder, S_IRUSR | S_IWUSR);
    if (file.fd >= 0)
        unlink(file.path.c_str());
    return file.fd;
}

} // namespace qs
