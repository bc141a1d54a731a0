// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace qs {

/// How far the ranges have grown after the first samples: would fewer samples, or more, calibrate otherwise?
struct RangeGrowth {
    size_t samples = 0;
    double meanShare = 0; ///< of the range over all samples, mean over the tensors
    double settledShare = 0; ///< of the tensors: within 1 % of that range
};

/// A share of the width over all samples from which on a range is called settled.
inline constexpr double kSettledShare = 0.99;

/// The learning curve of ranges: lowest and highest value of each tensor in each sample, in the order of the samples.
class RangeCurve {
public:
    explicit RangeCurve(size_t samples);
    /// One tensor's extremes, one pair a sample; ranges that hold 0 are what counts. Tensors without width are left
    /// out.
    void add(const std::vector<std::pair<double, double>>& extremes);
    /// After 1, 2, 4 ... and all samples; empty without tensors.
    std::vector<RangeGrowth> steps() const;
    /// Mean share of the width over all samples that ranges have after the first `samples`; 0 without tensors.
    double meanShare(size_t samples) const;
    /// The fewest samples after which ranges have on average 99 % of their width; 0 without tensors.
    size_t settledAfter() const;

private:
    std::vector<double> m_shares; ///< by number of samples less one, summed over the tensors
    std::vector<size_t> m_settled; ///< same index: tensors
    size_t m_tensors = 0;
};

} // namespace qs
