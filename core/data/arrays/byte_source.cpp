// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/arrays/byte_source.h"

#include "core/base/files/neighbour.h"
#include "core/base/files/regular_file.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace qs {

namespace {

class FileBytes final : public ByteSource {
public:
    FileBytes(std::string path, RegularFile file)
        : m_path(std::move(path))
        , m_file(std::move(file))
    {
    }
    uint64_t size() const override { return m_file.size(); }
    Status read(uint64_t offset, std::span<std::byte> out) const override
    {
        if (offset > size() || out.size() > size() - offset || !m_file.read(offset, out))
            return badInput("the file is shorter than it should be", m_path, "copy or create the file again");
        return {};
    }

private:
    std::string m_path;
    RegularFile m_file;
};

/// A file without a name; -1 when there is no room for one anywhere.
int openUnnamedFile()
{
    const char* chosen = std::getenv("TMPDIR");
    for (const char* folder : { chosen ? chosen : "/var/tmp", "/var/tmp", "/tmp" }) {
        const int file = makeUnnamedFile(folder);
        if (file >= 0)
            return file;
    }
    return -1;
}

} // namespace

Result<std::shared_ptr<const ByteSource>> openFileBytes(const std::string& path)
{
    QS_TRY(RegularFile file, RegularFile::open(path));
    return std::shared_ptr<const ByteSource>(std::make_shared<FileBytes>(path, std::move(file)));
}

Result<std::shared_ptr<ScratchBytes>> ScratchBytes::create(uint64_t size)
{
    std::shared_ptr<ScratchBytes> scratch(new ScratchBytes(size));
    if (size <= kMemoryBytes) {
        scratch->m_memory.resize(static_cast<size_t>(size));
        return scratch;
    }
    scratch->m_file = openUnnamedFile();
    if (scratch->m_file < 0)
        return badInput(
            "no temporary file can be created to unpack the data", {}, "set TMPDIR to a folder with free space");
    return scratch;
}

ScratchBytes::~ScratchBytes()
{
    if (m_file >= 0)
        close(m_file);
}

Status ScratchBytes::read(uint64_t offset, std::span<std::byte> out) const
{
    if (offset > m_size || out.size() > m_size - offset)
        return internalError("read beyond unpacked data");
    if (m_file < 0) {
        if (!out.empty())
            std::memcpy(out.data(), m_memory.data() + offset, out.size());
        return {};
    }
    if (!readAt(m_file, offset, out))
        return badInput("unpacked data cannot be read back", {}, "check the disk that holds temporary files");
    return {};
}

Status ScratchBytes::write(uint64_t offset, std::span<const std::byte> bytes)
{
    if (offset > m_size || bytes.size() > m_size - offset)
        return internalError("write beyond unpacked data");
    if (m_file < 0) {
        if (!bytes.empty())
            std::memcpy(m_memory.data() + offset, bytes.data(), bytes.size());
        return {};
    }
    while (!bytes.empty()) {
        const ssize_t n = pwrite(m_file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return badInput(std::string("unpacked data cannot be stored: ") + std::strerror(errno), {},
                "set TMPDIR to a folder with free space");
        bytes = bytes.subspan(static_cast<size_t>(n));
        offset += static_cast<uint64_t>(n);
    }
    return {};
}

Result<std::string> readSmallFile(const std::string& path, uint64_t limit)
{
    QS_TRY(const auto bytes, openFileBytes(path));
    if (bytes->size() > limit)
        return badInput("is too large (" + std::to_string(bytes->size()) + " bytes) for this kind of file", path,
            "check that it is the right file");
    std::string text(static_cast<size_t>(bytes->size()), '\0');
    QS_CHECK(bytes->read(0, std::as_writable_bytes(std::span(text))));
    return text;
}

} // namespace qs
