// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace qs {

/// Bytes of a whole file, mapped read-only for as long as the object lives. An empty file has an empty span.
class FileMapping {
public:
    /// Issues: missing, a folder or device, not readable.
    static Result<std::shared_ptr<const FileMapping>> open(const std::string& path);
    ~FileMapping();
    FileMapping(const FileMapping&) = delete;
    FileMapping& operator=(const FileMapping&) = delete;

    std::span<const std::byte> bytes() const { return { m_data, m_size }; }

private:
    FileMapping(const std::byte* data, size_t size)
        : m_data(data)
        , m_size(size)
    {
    }
    const std::byte* m_data;
    size_t m_size;
};

} // namespace qs
