// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace qs {

/// Fills `out` from that byte of an open file on; false when the file ends before or the disk fails.
bool readAt(int file, uint64_t offset, std::span<std::byte> out);

/// A file that is open for reading. Only regular files are opened: a pipe would wait for its writer, and a device need
/// not end.
class RegularFile {
public:
    /// Issues: missing, not allowed, a folder, a pipe, a socket, a device.
    static Result<RegularFile> open(const std::string& path);
    RegularFile(RegularFile&& other) noexcept;
    RegularFile& operator=(RegularFile&&) = delete;
    ~RegularFile();

    /// When it was opened.
    uint64_t size() const { return m_size; }
    bool read(uint64_t offset, std::span<std::byte> out) const { return readAt(m_file, offset, out); }

private:
    RegularFile(int file, uint64_t size)
        : m_file(file)
        , m_size(size)
    {
    }
    int m_file;
    uint64_t m_size;
};

} // namespace qs
