// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/files/opened_file.h"
#include "core/data/arrays/byte_source.h"
#include "core/data/arrays/npy_header.h"
#include "core/data/arrays/zip_archive.h"

#include <optional>

namespace qs {

/// One array of a .npy or .npz file: header now, elements in pieces.
class ArrayFile {
public:
    const std::string& key() const { return m_key; } ///< "" for a .npy
    DType dtype() const { return m_header.dtype; }
    const Shape& shape() const { return m_header.shape; }
    /// Makes the first `items` along axis 0 readable (all when the array is a scalar): unpacks or reorders once where
    /// the file does not allow reading in place.
    Status prepare(int64_t items);
    /// Items first..first+count-1 along axis 0 (a scalar: count 1), in native byte order and row-major.
    Result<Tensor> items(int64_t first, int64_t count) const;

private:
    friend class ArrayArchive;
    Status source(uint64_t wanted);
    Result<std::shared_ptr<const ByteSource>> itemsFirst(const ByteSource& source) const;
    int64_t itemElements() const;

    std::string m_path;
    std::shared_ptr<const OpenedFile> m_opened; ///< asked after each reading
    std::string m_key;
    NpyHeader m_header;
    std::shared_ptr<const ZipArchive> m_archive; ///< null for a .npy
    ZipMember m_member;
    std::shared_ptr<const ByteSource> m_source; ///< after prepare()
    uint64_t m_start = 0; ///< of the elements in m_source
};

/// The arrays of a .npz, or the one of a .npy. Sizes are checked against the headers before any data is read.
class ArrayArchive {
public:
    static Result<ArrayArchive> open(const std::string& path);
    /// Names as numpy gives them, in file order.
    const std::vector<std::string>& keys() const { return m_keys; }
    bool has(const std::string& key) const;
    Result<ArrayFile> array(const std::string& key) const;

private:
    std::string m_path;
    std::shared_ptr<const OpenedFile> m_opened;
    std::vector<std::string> m_keys;
    std::vector<ZipMember> m_members; ///< as m_keys
    std::shared_ptr<const ZipArchive> m_archive;
};

} // namespace qs
