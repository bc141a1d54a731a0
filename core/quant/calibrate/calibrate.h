// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/calibrate/calibration_data.h"
#include "core/quant/calibrate/calibration_run.h"
#include "core/quant/ranges/ranges.h"

namespace qs {

/// Runs the model once over the data, twice where histograms are asked for and the activations do not fit keepBytes.
/// The result does not depend on the number of threads. Issues: a tensor that is unknown, not float or holds NaN; a
/// stride that does not divide the number of runs.
Result<CalibrationData> collectCalibration(const CalibrationRun& run, const CollectOptions& options);

/// The second pass alone: counts the options' histograms, whose bins follow from extremes that are known for all runs
/// of the data, over those that the run looks at. Counts of parts add up to those of one run over all. Issue: extremes
/// of other tensors or of another number of runs.
Result<CalibrationData> countCalibration(
    const CalibrationRun& run, const CollectOptions& options, const CalibrationData& extremes);

/// Gathers what these options need and computes the ranges.
Result<Ranges> calibrate(const CalibrationRun& run, const CalibratorOptions& options);

} // namespace qs
