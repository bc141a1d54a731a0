// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace qs {

/// The names, as the model has them, of the files beside it in which it keeps tensors. Empty where it is no model.
std::vector<std::string> externalNames(const std::string& modelPath);

/// Bytes of an ONNX file and of all files beside it in which it keeps tensors, each file counted once and whole.
/// nullopt where one of them cannot be read.
std::optional<uint64_t> storedBytes(const std::string& modelPath);

} // namespace qs
