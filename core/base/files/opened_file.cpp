// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files/opened_file.h"

#include "core/base/hash.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <optional>
#include <unistd.h>

namespace qs {

namespace {

constexpr size_t kHeadBytes = 4096;
constexpr int64_t kYoungSeconds = 2;
constexpr const char* kOpenAgain = "open it again";

/// nullopt when it cannot be read.
std::optional<uint64_t> hashOfHead(int fd)
{
    std::array<char, kHeadBytes> head {};
    size_t length = 0;
    while (length < head.size()) {
        const ssize_t n = pread(fd, head.data() + length, head.size() - length, static_cast<off_t>(length));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return std::nullopt;
        if (n == 0)
            break;
        length += static_cast<size_t>(n);
    }
    return hashText({ head.data(), length }).low;
}

std::optional<uint64_t> hashOfHead(const std::string& path)
{
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const auto hash = fd < 0 ? std::nullopt : hashOfHead(fd);
    if (fd >= 0)
        close(fd);
    return hash;
}

Issue unreadable(const std::string& path)
{
    return badInput(std::string("cannot be read: ") + std::strerror(errno), path, "check the disk");
}

} // namespace

OpenedFile::OpenedFile(std::string path, const struct stat& info, uint64_t head)
    : m_path(std::move(path))
    , m_stamp(info)
    , m_head(head)
    , m_young(m_stamp.seconds + kYoungSeconds >= std::time(nullptr))
{
}

Result<std::shared_ptr<OpenedFile>> OpenedFile::of(int fd, std::string path)
{
    struct stat info { };
    const auto head = fstat(fd, &info) == 0 ? hashOfHead(fd) : std::nullopt;
    if (!head)
        return unreadable(path);
    return std::shared_ptr<OpenedFile>(new OpenedFile(std::move(path), info, *head));
}

Result<std::shared_ptr<OpenedFile>> OpenedFile::at(const std::string& path)
{
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return unreadable(path);
    auto file = of(fd, path);
    close(fd);
    return file;
}

Status OpenedFile::unchanged() const
{
    if (m_lost)
        return badInput("was cut short, or its disk went away, while it was open", m_path, kOpenAgain);
    struct stat now { };
    if (stat(m_path.c_str(), &now) != 0)
        return errno == ENOENT || errno == ENOTDIR ? Status() : Status(unreadable(m_path));
    bool same = FileStamp(now) == m_stamp;
    if (same && m_young) {
        const auto head = hashOfHead(m_path);
        if (!head)
            return unreadable(m_path);
        same = head == m_head;
    }
    if (!same)
        return badInput("has changed since it was opened", m_path, kOpenAgain);
    return {};
}

bool asksToOpenAgain(const Issue& issue) { return issue.remedy == kOpenAgain; }

Status unchanged(const OpenedFiles& files)
{
    for (const auto& file : files)
        QS_CHECK(file->unchanged());
    return {};
}

} // namespace qs
