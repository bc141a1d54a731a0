// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace qs {

/// The names, as the model has them, of the files beside it in which it keeps tensors. Empty where there is no model.
/// Issue: there is a file, and it cannot be read.
Result<std::vector<std::string>> externalNames(const std::string& modelPath);

/// Bytes of an ONNX file and of all files beside it in which it keeps tensors, each file counted once and whole.
/// nullopt where one of them cannot be read.
std::optional<uint64_t> storedBytes(const std::string& modelPath);

} // namespace qs
