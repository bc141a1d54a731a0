// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/graph/draft.h"
#include "core/quant/calibrate/calibration_data.h"
#include "core/quant/recipe/recipe.h"

namespace qs {

/// What the recipe's calibrator and those of single tensors need.
CollectOptions neededBy(const Recipe& recipe);
bool covers(const CalibrationData& data, const Recipe& recipe);

/// Overrides whose name is a pattern (isNamePattern) hold for each tensor of the model that it matches and that has
/// none by its own name; those with a calibrator, for no constants. Issue: a pattern that matches nothing.
Result<Recipe> withTensorPatterns(Recipe recipe, const GraphDraft& model);

/// The range of every tensor by the calibrator that the recipe names for it. Issues: as of rangesFor().
Result<Ranges> rangesFor(const CalibrationData& data, const Recipe& recipe);

/// The range that a calibrator gives a tensor from what was seen of it. Issue: nothing was, or not what that calibrator
/// needs.
Result<TensorRange> rangeBy(
    const std::string& tensor, const CalibrationData& seen, const CalibratorOptions& calibrator);

} // namespace qs
