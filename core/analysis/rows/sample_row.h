// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// What a comparison says about its samples.
namespace qs {

/// Values of one input, or of one channel of it, over all samples.
struct InputMoments {
    double mean = 0, deviation = 0, lowest = 0, highest = 0;
};

struct InputRow {
    std::string name;
    std::optional<InputMoments> all; ///< nothing where no value is finite
    std::vector<InputMoments> channels; ///< of pictures, one a colour
    std::optional<std::pair<double, double>> calibrated; ///< range that the quantized file gives this input
    std::string note; ///< what does not fit; empty = nothing
};

/// How well the calibrated ranges cover the values of these samples.
struct CalibrationCoverage {
    uint64_t values = 0; ///< before all static quantizers of activations
    double outside = 0; ///< share of them beyond their range
    size_t tensors = 0, tensorsOutside = 0; ///< with any value outside
    std::string worst; ///< tensor with the largest share outside; empty = none
    double worstShare = 0;
};

/// How far the ranges have grown after the first samples: would fewer samples, or more, calibrate otherwise?
struct RangeGrowth {
    size_t samples = 0;
    double meanShare = 0; ///< of the range over all samples, mean over the quantized activations
    double settledShare = 0; ///< of these activations: within 1 % of that range
};

} // namespace qs
