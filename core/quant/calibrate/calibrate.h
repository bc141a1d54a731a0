// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/work/cancel.h"
#include "core/base/work/progress.h"
#include "core/data/data_source.h"
#include "core/engine/plan/plan.h"
#include "core/quant/calibrate/calibration_data.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace qs {

/// A float model, what to look at, and what to run it on.
struct CalibrationRun {
    std::shared_ptr<const Plan> plan;
    std::vector<std::string> tensors; ///< float32 or float16 values of the model
    std::shared_ptr<const DataSource> data;
    std::vector<std::pair<std::string, std::string>> carry; ///< OUTPUT, INPUT: state from one sample to the next
    size_t threads = 1;
    uint64_t memoryLimit = 0; ///< bytes; 0 = none
    bool inOrder = false; ///< one sample after the other, so that what is seen of it may be added up as it comes
    uint64_t keepBytes = uint64_t(64) << 20; ///< activations are kept for the second pass when all of them fit
};

/// Runs the model once over the data, twice where histograms are asked for and the activations do not fit keepBytes.
/// The result does not depend on the number of threads. Issues: a tensor that is unknown, not float or holds NaN; a
/// stride that does not divide the number of runs.
Result<CalibrationData> collectCalibration(const CalibrationRun& run, const CollectOptions& options,
    const ProgressFn& progress = {}, const CancelToken& cancel = {});

/// Gathers what these options need and computes the ranges.
Result<Ranges> calibrate(const CalibrationRun& run, const CalibratorOptions& options, const ProgressFn& progress = {},
    const CancelToken& cancel = {});

/// Inputs and outputs of the nodes of these types (empty: of all) that are float32 or float16 and no initializers, in
/// graph order: what ONNX Runtime calibrates.
std::vector<std::string> tensorsToCalibrate(const Plan& plan, const std::vector<std::string>& opTypes = {});

} // namespace qs
