// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/tensor/dtype.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace qs {

/// For each output axis where its elements come from: offsets in source elements, summed over the axes; a negative
/// offset means "outside", for which the fill element stands. Serves padding and nearest-neighbour resizing; elements
/// may be whole pixels, of any number of bytes.
using AxisOffsets = std::vector<std::vector<int64_t>>;
void tableCopyReference(
    const std::byte* source, std::byte* target, size_t elementBytes, const AxisOffsets& axes, const std::byte* fill);
void tableCopy(
    const std::byte* source, std::byte* target, size_t elementBytes, const AxisOffsets& axes, const std::byte* fill);

/// target block i = source block blocks[i].
void gatherBlocks(const std::byte* source, std::byte* target, size_t blockBytes, std::span<const int64_t> blocks);
/// target block blocks[i] = source block i, in ascending i.
void scatterBlocks(const std::byte* source, std::byte* target, size_t blockBytes, std::span<const int64_t> blocks);

enum class ScatterReduction { Add, Mul, Min, Max };
/// target block blocks[i] = reduction(that block, source block i), element by element, in ascending i. False for types
/// that have no arithmetic (strings, packed codes).
bool scatterReduce(DType type, const std::byte* source, std::byte* target, size_t blockElements,
    std::span<const int64_t> blocks, ScatterReduction reduction);

} // namespace qs
