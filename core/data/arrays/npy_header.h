// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/tensor/tensor.h"

#include <span>
#include <string>

namespace qs {

/// What the header of a .npy array says.
struct NpyHeader {
    DType dtype = DType::Undefined;
    size_t itemBytes = 0;
    bool swapped = false; ///< stored in the other byte order
    bool fortranOrder = false;
    Shape shape;
    uint64_t dataOffset = 0; ///< bytes of magic and header
    uint64_t storedBytes = 0; ///< header and data together
};

/// Bytes at the beginning that hold the length of the header, for any version.
constexpr size_t kNpyPrefix = 12;
/// Bytes up to the data, from the first kNpyPrefix bytes (fewer for a short file). Issues name `file` and `array`.
Result<size_t> npyHeaderBytes(std::span<const std::byte> prefix, const std::string& file, const std::string& array);
/// Parses magic and header. Object arrays (pickles), structured arrays and types the program has no use for are
/// refused.
Result<NpyHeader> parseNpyHeader(std::span<const std::byte> bytes, const std::string& file, const std::string& array);

} // namespace qs
