// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace qs {

/// Elements that are visited over `shape`, read with one set of strides and written with another (in elements;
/// negative and zero strides are allowed for reading). Serves transposes, slices, repeats and blocks.
struct StridedCopy {
    std::vector<int64_t> shape;
    std::vector<int64_t> from;
    std::vector<int64_t> to;
};

/// Element by element, the obvious way. Elements have any number of bytes.
void stridedCopyReference(const std::byte* source, std::byte* target, size_t elementBytes, const StridedCopy& copy);
/// The same, with whole runs and cache-sized tiles where elements have 1, 2, 4, 8 or 16 bytes.
void stridedCopy(const std::byte* source, std::byte* target, size_t elementBytes, const StridedCopy& copy);

} // namespace qs
