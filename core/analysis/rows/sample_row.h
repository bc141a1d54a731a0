// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/calibrate/range_growth.h"

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
    bool otherScale = false; ///< the note says that values were scaled or normalized otherwise
};

/// How well the calibrated ranges cover the values of these samples.
struct CalibrationCoverage {
    uint64_t values = 0; ///< before all static quantizers of activations
    double outside = 0; ///< share of them beyond their range
    size_t tensors = 0, tensorsOutside = 0; ///< with any value outside
    std::string worst; ///< tensor with the largest share outside; empty = none
    double worstShare = 0;
};

/// The samples that ranges were found with, where the quantized model was made here.
struct CalibrationSummary {
    size_t samples = 0;
    size_t judged = 0; ///< samples of the comparison that are among them
    size_t repeated = 0; ///< samples that are equal to an earlier one
    bool extremes = false; ///< ranges are those of the smallest and largest value, so that each sample can widen them
    size_t settledAfter = 0; ///< samples after which ranges have 99 % of their width; 0: not known
    double halfShare = 1; ///< of their width that ranges had after half of the samples
    size_t labels = 0, classes = 0; ///< samples with a class, and classes that occur; 0: no labels
    double largestClass = 0; ///< share of the labels
};

} // namespace qs
