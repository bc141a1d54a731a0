// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/quantize/corrections.h"
#include "core/quant/calibrate/calibration_run.h"

#include <memory>
#include <string>
#include <vector>

namespace qs {

/// The float model after the passes that the recipe asks for, and the recipe with the nodes that must stay float then.
struct PreparedModel {
    GraphDraft draft;
    std::vector<PassReport> reports;
    std::shared_ptr<QuantizedConstants> constants; ///< of the draft, which shares their storage
    /// Another quantizer would not make the same of `source`: types count where nothing else states them.
    bool changed(const Graph& source) const;
};
/// Issues: not a float model; what is to be fixed is not there.
Result<PreparedModel> preparedModel(const QuantizeInputs& inputs);

/// Nodes that the recipe excludes by name, that the file has, and that preparation took away.
std::vector<std::string> excludedAndGone(const QuantizeInputs& inputs, const GraphDraft& prepared);

/// What is calibrated and quantized, before any correction; takes the draft of `prepared`. `raised`: whether its opset
/// had to be. Issue: a pattern of the recipe that no tensor matches.
Result<FloatState> readyState(const QuantizeInputs& inputs, PreparedModel& prepared, bool* raised);

/// Issue: a pattern of nodes or a tensor of the recipe names nothing of the model that it prepares.
Status checkNames(const QuantizeInputs& inputs);

/// Names of the tensors whose ranges the recipe asks for.
Result<std::vector<std::string>> tensorsToCalibrate(const FloatState& state);
/// What the statistics of a tensor depend on (KeptCalibration::key); which tensors there are is another matter.
std::string keptKey(Recipe recipe);
/// A run over the state's graph with the data of the inputs, which there may be none of.
Result<CalibrationRun> calibrationRun(
    const QuantizeInputs& inputs, const FloatState& state, std::vector<std::string> tensors, const WorkContext& work);

} // namespace qs
