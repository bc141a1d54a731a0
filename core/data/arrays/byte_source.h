// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace qs {

/// Bytes that can be read from any offset, from several threads at a time.
class ByteSource {
public:
    virtual ~ByteSource() = default;
    virtual uint64_t size() const = 0;
    /// Fills `out` from `offset`; an Issue when the bytes are not all there.
    virtual Status read(uint64_t offset, std::span<std::byte> out) const = 0;
};

/// A regular file, read in place.
Result<std::shared_ptr<const ByteSource>> openFileBytes(const std::string& path);

/// Place for bytes that must be unpacked before they can be read at any offset: a few MiB stay in memory, more goes to
/// a temporary file that vanishes with the process, so memory stays flat.
class ScratchBytes final : public ByteSource {
public:
    static constexpr uint64_t kMemoryBytes = uint64_t(4) << 20;
    static Result<std::shared_ptr<ScratchBytes>> create(uint64_t size);
    ~ScratchBytes() override;
    ScratchBytes(const ScratchBytes&) = delete;
    ScratchBytes& operator=(const ScratchBytes&) = delete;

    uint64_t size() const override { return m_size; }
    Status read(uint64_t offset, std::span<std::byte> out) const override;
    Status write(uint64_t offset, std::span<const std::byte> bytes);

private:
    explicit ScratchBytes(uint64_t size)
        : m_size(size)
    {
    }
    uint64_t m_size;
    std::vector<std::byte> m_memory;
    int m_file = -1;
};

/// The whole of a small text or data file; an Issue above `limit` bytes.
Result<std::string> readSmallFile(const std::string& path, uint64_t limit);

} // namespace qs
