// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/onnx/files/file_mapping.h"
#include "core/onnx/files/proto.h"

#include <filesystem>
#include <map>
#include <optional>

namespace qs {

/// Bytes kept alive by their owner.
struct SharedBytes {
    std::span<const std::byte> bytes;
    std::shared_ptr<const void> owner;
};

/// Finds and maps the files in which a model keeps tensors. They must lie in the model's folder: the folder of the
/// path the user gave, or the one its symbolic links lead to (model caches link to a store).
class ExternalData {
public:
    /// `modelPath` as the user gave it.
    static ExternalData besideModel(const std::string& modelPath);
    static ExternalData inFolder(const std::string& folder);

    /// The `needed` bytes of the tensor. Issues (without file and tensor, which the caller adds): missing, too short,
    /// outside the folder, unreadable entries.
    Result<SharedBytes> read(const onnx::TensorProto& tensor, size_t needed);
    /// Those that were read.
    OpenedFiles files() const;

private:
    ExternalData() = default;
    Result<std::filesystem::path> resolve(const std::string& location) const;

    std::vector<std::filesystem::path> m_folders;
    std::map<std::filesystem::path, std::shared_ptr<const FileMapping>> m_mappings;
};

} // namespace qs
