// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/model/left_in_float.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace qs {

/// The samples that ranges were found with.
struct CalibrationSet {
    size_t samples = 0;
    bool judged = false; ///< the comparison runs over the same source
    bool extremes = false; ///< ranges are those of the smallest and largest value, which each sample can widen
    size_t settledAfter = 0; ///< samples after which ranges have on average 99 % of their width; 0: not known
    double halfShare = 1; ///< of their width that ranges had after half of the samples
    std::vector<int64_t> labels; ///< of the samples that have one
    std::vector<uint64_t> hashes; ///< of the samples (core/data/sample_hash.h); empty where they are not known
};

/// How a quantized model was made, where it was made here.
struct Provenance {
    std::vector<LeftInFloat> left; ///< what the quantizer says of nodes that it left as they were
    std::optional<CalibrationSet> calibration; ///< nothing where ranges were given, or none were needed
    bool movesFactors = false; ///< from one constant to another: SmoothQuant, equalization
    bool correctsWeights = false; ///< rounds weights, or shifts biases, by what that does to outputs
    /// Weights and biases are not the float model's, as they are meant to be.
    bool changesWeights() const { return movesFactors || correctsWeights; }
};

} // namespace qs
