// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/onnx/files/file_mapping.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace qs {

namespace {

struct Descriptor {
    int fd;
    ~Descriptor()
    {
        if (fd >= 0)
            ::close(fd);
    }
};

Issue cannotOpen(const std::string& path, int error)
{
    if (error == ENOENT || error == ENOTDIR)
        return badInput("the file does not exist", path, "check the path");
    if (error == EACCES || error == EPERM)
        return badInput("the file must not be read", path, "give yourself permission to read it");
    return badInput(std::string("the file cannot be read (") + std::strerror(error) + ")", path, "check the path");
}

} // namespace

Result<std::shared_ptr<const FileMapping>> FileMapping::open(const std::string& path)
{
    struct stat info { };
    // Looked at before opening, since opening a pipe would wait for its writer.
    if (::stat(path.c_str(), &info) != 0)
        return cannotOpen(path, errno);
    if (S_ISDIR(info.st_mode))
        return badInput("is a folder, not a file", path, "give the file itself");
    if (!S_ISREG(info.st_mode))
        return badInput("is not a regular file", path, "save it to a file first");
    const Descriptor file { ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK) };
    if (file.fd < 0 || ::fstat(file.fd, &info) != 0)
        return cannotOpen(path, errno);
    QS_TRY(auto opened, OpenedFile::of(file.fd, path));
    const auto size = static_cast<size_t>(info.st_size);
    std::byte* data = nullptr;
    if (size > 0) {
        void* mapped = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd, 0);
        if (mapped == MAP_FAILED)
            return cannotOpen(path, errno);
        data = static_cast<std::byte*>(mapped);
    }
    return std::shared_ptr<const FileMapping>(new FileMapping(data, size, std::move(opened)));
}

FileMapping::FileMapping(std::byte* data, size_t size, std::shared_ptr<OpenedFile> file)
    : m_data(data)
    , m_size(size)
    , m_file(std::move(file))
{
    if (m_data)
        m_guard.emplace(m_data, m_size, m_file->lost());
}

FileMapping::~FileMapping()
{
    m_guard.reset();
    if (m_data)
        ::munmap(m_data, m_size);
}

} // namespace qs
