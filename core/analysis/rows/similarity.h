// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/measure/number.h"
#include "core/kernels/statistics/pair_sums.h"

#include <cstdint>

namespace qs {

/// Similarity of a pair of tensors over all samples taken together; sums in float64. Non-finite elements are left out
/// and counted in nonFinite.
struct Similarity {
    Number sqnrDb; ///< 20 log10(|x| / |x - y|), dB, higher is better; null when exact or not defined
    bool exact = false; ///< x == y everywhere
    Number rmse;
    Number maxAbsError;
    Number meanError; ///< mean of y - x
    Number cosine;
    uint64_t elements = 0;
    uint64_t nonFinite = 0;
};

/// 10 log10(signal / noise) with the rules for zero: exact when there is no noise.
Number powerRatioDb(double signal, double noise);
Similarity similarityOf(const PairSums& sums);

} // namespace qs
