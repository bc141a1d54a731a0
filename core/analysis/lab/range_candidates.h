// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/lab/predicted_noise.h"
#include "core/quant/calibrate/calibration_data.h"
#include "core/quant/recipe/recipe.h"

#include <vector>

namespace qs {

/// What a recipe makes of a range of this row's tensor: per tensor, in the type that the row has.
QuantParams paramsForRange(const ActivationRow& row, const Recipe& recipe, double lowest, double highest);
/// Whether the recipe keeps the tensor's range symmetric around zero.
bool symmetricRange(const Recipe& recipe, const std::string& tensor);

/// Where a calibrator would put a tensor's range, and what that would do.
struct RangeCandidate {
    CalibratorOptions calibrator;
    double lowest = 0, highest = 0;
    PredictedNoise noise;
};

/// Of one calibrator with the recipe's parameters.
std::optional<RangeCandidate> rangeCandidate(
    const ActivationRow& row, const Recipe& recipe, const CalibrationData* calibration, Calibrator calibrator);

/// Of smallest and largest value, percentile, entropy and least squares. From the statistics of a calibration where
/// they hold the tensor and what the calibrator needs, else from the float values that the comparison saw. Empty where
/// nothing can be predicted.
std::vector<RangeCandidate> rangeCandidates(
    const ActivationRow& row, const Recipe& recipe, const CalibrationData* calibration);

} // namespace qs
