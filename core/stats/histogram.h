// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/files/byte_stream.h"
#include "core/stats/bin_counts.h"

#include <cstdint>
#include <span>

namespace qs {

/// Counts over bins of equal width, a power of two, aligned at multiples of the width. The bins are a function of the
/// smallest and the largest value alone (the narrowest width that holds both within kMaxBins, but not below the
/// resolution of a float of the largest magnitude); when a value falls outside, neighbouring bins are merged pairwise.
/// So the final counts do not depend on the order of the data, on threads or on shards: merging is exact. Non-finite
/// values are counted apart. Copies share their counts until one of them is changed.
class Histogram {
public:
    static constexpr int kMaxBins = 2048;
    void add(std::span<const float> values);
    void add(float value);
    void add(float value, uint64_t times);
    /// Finite values; low and high are their extremes, or those of all that goes with them into this histogram.
    void add(std::span<const float> values, float low, float high);
    void merge(const Histogram& other);
    bool empty() const { return m_counts.empty(); } ///< no finite value yet
    double binWidth() const;
    double low() const; ///< left edge of the first bin
    double high() const; ///< right edge of the last bin
    double smallest() const { return m_min; } ///< exact smallest and largest finite value; 0 when empty
    double largest() const { return m_max; }
    const BinCounts& counts() const { return m_counts; }
    uint64_t total() const { return m_counts.total(); } ///< finite values
    uint64_t nonFinite() const { return m_nonFinite; }
    bool operator==(const Histogram&) const = default;
    void write(ByteWriter& out) const;
    /// What write() wrote; fails the reader when no histogram looks like this.
    static Histogram read(ByteReader& in);

private:
    void extendTo(float low, float high);
    void rebin(int exponent, int64_t first, int64_t last);
    int m_exponent = 0; ///< bin width = 2^exponent
    int64_t m_first = 0; ///< index of the first bin: left edge = m_first * width
    float m_min = 0;
    float m_max = 0;
    BinCounts m_counts;
    uint64_t m_nonFinite = 0;
};

} // namespace qs
