// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace qs {

/// Bytes of an ONNX file and of all files beside it in which it keeps tensors, each file counted once and whole.
/// nullopt where one of them cannot be read.
std::optional<uint64_t> storedBytes(const std::string& modelPath);

} // namespace qs
