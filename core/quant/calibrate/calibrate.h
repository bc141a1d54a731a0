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

/// Gathers what these options need and computes the ranges.
Result<Ranges> calibrate(const CalibrationRun& run, const CalibratorOptions& options);

} // namespace qs
