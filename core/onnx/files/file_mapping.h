// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/files/mapped_pages.h"
#include "core/base/files/opened_file.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace qs {

/// Bytes of a whole file, mapped read-only for as long as the object lives. An empty file has an empty span. Who reads
/// them asks file().unchanged() before anything that follows from them is used: when somebody writes the file they
/// change, and where it is cut short they read as zeros.
class FileMapping {
public:
    /// Issues: missing, a folder or device, not readable.
    static Result<std::shared_ptr<const FileMapping>> open(const std::string& path);
    ~FileMapping();
    FileMapping(const FileMapping&) = delete;
    FileMapping& operator=(const FileMapping&) = delete;

    std::span<const std::byte> bytes() const { return { m_data, m_size }; }
    const std::shared_ptr<OpenedFile>& file() const { return m_file; }

private:
    FileMapping(std::byte* data, size_t size, std::shared_ptr<OpenedFile> file);
    std::byte* m_data;
    size_t m_size;
    std::shared_ptr<OpenedFile> m_file;
    std::optional<PageGuard> m_guard;
};

} // namespace qs
