// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace qs {

/// Counts over bins of equal width, a power of two, aligned at multiples of the width. When a value falls outside,
/// neighbouring bins are merged pairwise, so the final counts do not depend on the order of the data, on threads or
/// on shards: merging is exact. Non-finite values are counted apart. At most kMaxBins bins.
class Histogram {
public:
    static constexpr int kMaxBins = 2048;
    void add(std::span<const float> values);
    void add(float value);
    void merge(const Histogram& other);
    bool empty() const { return m_counts.empty(); }
    double binWidth() const;
    double low() const; ///< left edge of the first bin
    double high() const; ///< right edge of the last bin
    const std::vector<uint64_t>& counts() const { return m_counts; }
    uint64_t total() const; ///< finite values
    uint64_t nonFinite() const { return m_nonFinite; }
    bool operator==(const Histogram&) const = default;

private:
    void growTo(int64_t lowBin, int64_t highBin);
    int m_exponent = -30; ///< bin width = 2^exponent
    int64_t m_first = 0; ///< index of the first bin: left edge = m_first * width
    std::vector<uint64_t> m_counts;
    uint64_t m_nonFinite = 0;
};

} // namespace qs
