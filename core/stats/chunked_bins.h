// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/kernels/statistics/value_range.h"
#include "core/tensor/dtype.h"

#include <cstddef>
#include <span>
#include <vector>

namespace qs {

/// Edges of `bins` bins of equal width, as numpy.histogram (NumPy 2) computes them for data of this type (Float32 or
/// Float16): every step in the type, a range without width widened by a half on both sides. Empty where NumPy gives up:
/// an infinite width, or bins so narrow that edges coincide.
std::vector<float> evenEdges(float low, float high, size_t bins, DType type);

/// Bins of a histogram that ONNX Runtime's HistogramCollector fills chunk by chunk (one call of collect() each),
/// growing it where a later chunk reaches farther. They follow from the chunks' extremes alone, so that all chunks can
/// be counted in any order once these are known.
struct ChunkedBins {
    struct Chunk {
        size_t edges = 0; ///< which of `edgeSets` counts it
        size_t offset = 0; ///< bin 0 of the chunk is this bin of the result
    };
    std::vector<std::vector<float>> edgeSets;
    std::vector<Chunk> chunks; ///< one a chunk
    const std::vector<float>& edges() const { return edgeSets.back(); } ///< of the result
    size_t bins() const { return edges().size() - 1; }
    bool valid() const { return !edgeSets.empty(); }
};

/// Signed values over a range symmetric around zero. Invalid where ONNX Runtime would fail (see evenEdges), and beyond
/// kMostChunkedBins.
ChunkedBins signedBins(std::span<const ValueRange> chunks, size_t bins, DType type);
/// Magnitudes from the smallest to the largest of the first chunk; it grows upwards alone, smaller ones of later chunks
/// are not counted.
ChunkedBins magnitudeBins(std::span<const ValueRange> chunks, size_t bins, DType type);

constexpr size_t kMostChunkedBins = size_t(1) << 20;

} // namespace qs
