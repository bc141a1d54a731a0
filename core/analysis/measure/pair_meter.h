// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/measure/inherited_bins.h"
#include "core/kernels/statistics/pair_sums.h"
#include "core/stats/histogram.h"
#include "core/tensor/quant_params.h"

#include <vector>

namespace qs {

/// Of one pair; `before` counts a(p).
struct PairHistograms {
    Histogram x, y, error, before;
    InheritedBins inherited; ///< of few elements a run, always the same ones
    void merge(const PairHistograms& other);
};

/// The quantizer of one channel, or of the whole tensor.
PairQuantizer quantizerOf(const QuantParams& params, size_t channel);
/// It can be said what such codes do to a value: whole numbers, and float8 and float4 with a sign and not in blocks.
bool hasKnownCodes(const QuantParams& params);

/// Sums and histograms of one pair and sample, block by block, so that each value is read from far away once.
/// The elements of x, which lie plainly in this shape, times the factors of their channels, in `scratch`; x itself
/// where the shape does not have as many channels, or a whole number of elements for each.
const float* withFactors(const ValueFactors& factors, const Shape& shape, const float* x, std::vector<float>& scratch);

class PairMeter {
public:
    /// Which histograms of the pair's values are made here; those of the error and a(p) always are.
    struct Counts {
        bool x = true, y = true;
    };
    /// `histograms` null: none are made.
    PairMeter(PairSums& sums, PairHistograms* histograms, Counts counts, std::vector<float>& scratch);
    void addRun(const PairRun& run);
    /// Elements of channels in turn, `inner` of each, the first being number `offset` of the whole tensor. Takes the
    /// quantizers from `params` where the run has one.
    void addChannels(const PairRun& run, const QuantParams& params, size_t offset, size_t channels, size_t inner);
    /// Whole rows of scores before a Softmax: masked ones are left out of the sums, though not of ranges and
    /// histograms. `mask`: of what is added to scores.
    void addScores(const PairRun& run, size_t rowLength, bool mask);

private:
    PairRun blockOf(const PairRun& run, size_t begin) const;
    void countAll(const PairRun& run);
    void addUnmasked(const PairRun& rows, size_t rowLength, bool mask, std::vector<float>& kept);
    void addRange(const PairRun& run, size_t i);
    void count(const PairRun& block, bool known);
    /// Of elements that are multiples of `stride` in the whole run, whose element `begin` is the block's first.
    void countInherited(const PairRun& block, size_t begin, size_t stride);
    const float* activated(const PairRun& block) const;

    PairSums& m_sums;
    PairExtremes m_extremes;
    PairHistograms* m_histograms;
    Counts m_counts;
    std::vector<float>& m_scratch;
};

} // namespace qs
