// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/tensor/dtype.h"

#include <cstddef>
#include <cstdint>
#include <limits>

namespace qs {

/// Quantizer of one run of elements: per tensor, or one channel.
struct PairQuantizer {
    float scale = 1;
    int32_t zeroPoint = 0;
    int32_t low = 0, high = 255; ///< codes
    /// Float8 or float4: codes stand for the finite values of that type, `low` and `high` are its ends. Else whole
    /// numbers.
    DType grid = DType::Undefined;

    bool isEven() const { return grid == DType::Undefined; }
    /// What lies beyond these is clipped: half a step beyond the ends, of floats the ends themselves.
    double lowest() const { return double(scale) * (double(low) - zeroPoint) - (isEven() ? double(scale) / 2 : 0); }
    double highest() const { return double(scale) * (double(high) - zeroPoint) + (isEven() ? double(scale) / 2 : 0); }
    float dequantized(float x) const; ///< DQ(Q(x))
};

/// What stands between p and the quantizer: Relu and Clip as bounds.
struct PairActivation {
    float low = -std::numeric_limits<float>::infinity();
    float high = std::numeric_limits<float>::infinity();
    bool bounded() const
    {
        return low != -std::numeric_limits<float>::infinity() || high != std::numeric_limits<float>::infinity();
    }
};

/// Sums over the elements of one pair of tensors, in float64 (symbols: metrics, "What the numbers mean"). Elements with
/// a non-finite x, y or p are counted in nonFinite and left out of everything else.
struct PairSums {
    uint64_t count = 0, nonFinite = 0;
    uint64_t clipped = 0, clippedX = 0; ///< a(p) and x beyond the quantizer's range
    double xx = 0, yy = 0, xy = 0; ///< x*x, y*y, x*y
    double ee = 0, e = 0, maxError = 0; ///< (y-x)^2, y-x, largest |y-x|
    double localEe = 0; ///< (DQ(Q(x)) - x)^2
    double pp = 0, qdqEe = 0; ///< p*p, (y-p)^2
    double rounding = 0, clipping = 0, inherited = 0; ///< (y-x) * part
    double lowX = std::numeric_limits<double>::infinity(), highX = -std::numeric_limits<double>::infinity();
    double lowA = std::numeric_limits<double>::infinity(), highA = -std::numeric_limits<double>::infinity(); ///< a(p)
    double nodeEe = 0; ///< (node alone - x)^2, filled by the caller

    void merge(const PairSums& other);
};

/// What histograms of the same elements need to know, found on the way: the smallest and largest y and y - x (the
/// difference in float32; of x and a(p) they are in the sums). Only of elements that the sums count.
struct PairExtremes {
    float lowY = std::numeric_limits<float>::infinity(), highY = -std::numeric_limits<float>::infinity();
    float lowError = std::numeric_limits<float>::infinity(), highError = -std::numeric_limits<float>::infinity();
};

/// One run of n elements. `p` null: y has no quantizer of its own, p = y. `quantizer` null: no local error, no
/// clipping.
struct PairRun {
    const float* x = nullptr;
    const float* y = nullptr;
    const float* p = nullptr;
    size_t n = 0;
    const PairQuantizer* quantizer = nullptr;
    PairActivation activation;
    float* error = nullptr; ///< where y - x in float32 is written; null = nowhere, and no extremes are looked for
};

/// Adds the sums of the run. Plain loops in double.
void addPairSumsReference(PairSums& sums, PairExtremes& extremes, const PairRun& run);
/// The same with vectors; sums may differ in the last bits, but depend on the arguments alone.
void addPairSums(PairSums& sums, PairExtremes& extremes, const PairRun& run);

/// Without extremes.
void addPairSums(PairSums& sums, const float* x, const float* y, const float* p, size_t n,
    const PairQuantizer* quantizer, const PairActivation& activation);

} // namespace qs
