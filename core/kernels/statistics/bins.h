// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <span>

/// What histograms count with.
namespace qs {

/// Smallest and largest finite value of an array, and how many values are not finite. When none is, low > high.
struct FloatExtremes {
    float low = 0;
    float high = 0;
    size_t nonFinite = 0;
};
FloatExtremes floatExtremesReference(std::span<const float> x);
FloatExtremes floatExtremes(std::span<const float> x);

/// Largest number of bins.
constexpr size_t kMostBins = 2048;

/// counts[k] += how many values lie in bin first + k, where the bin of a value is floor(value / 2^exponent). All values
/// are finite and lie in the bins (at most kMostBins), no bin's index reaches 2^24 in magnitude, and no count gets
/// beyond its type.
void countBinsReference(std::span<const float> x, int exponent, int32_t first, std::span<uint64_t> counts);
void countBins(std::span<const float> x, int exponent, int32_t first, std::span<uint16_t> counts);
void countBins(std::span<const float> x, int exponent, int32_t first, std::span<uint32_t> counts);
void countBins(std::span<const float> x, int exponent, int32_t first, std::span<uint64_t> counts);

/// counts[c] += how often the byte c occurs.
void countCodes(std::span<const uint8_t> codes, std::span<uint64_t, 256> counts);
/// Sets seen[c] for each byte c that occurs.
void markCodes(std::span<const uint8_t> codes, std::bitset<256>& seen);

} // namespace qs
