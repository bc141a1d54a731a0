// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/arrays/byte_source.h"

#include <memory>
#include <string>
#include <vector>

namespace qs {

/// One file of an archive, as the archive's directory describes it.
struct ZipMember {
    std::string name;
    uint64_t index = 0;
    uint64_t size = 0; ///< unpacked bytes
    bool stored = false; ///< not compressed: can be read in place
};

/// A zip archive that is read in pieces.
class ZipArchive {
public:
    static Result<ZipArchive> open(const std::string& path);
    const std::vector<ZipMember>& members() const { return m_members; }
    /// The first bytes of a member (fewer when it is shorter).
    Result<std::vector<std::byte>> prefix(const ZipMember& member, size_t bytes) const;
    /// The member's first `bytes` bytes for reading at any offset: in place when stored, else unpacked once.
    Result<std::shared_ptr<const ByteSource>> bytes(const ZipMember& member, uint64_t bytes) const;

private:
    std::string m_path;
    std::vector<ZipMember> m_members;
};

} // namespace qs
