// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/work/work_context.h"
#include "core/project/quantize/quantization.h"
#include "core/quant/calibrate/calibration_parts.h"

namespace qs {

/// Calibrates as quantizeModel() would, over part number `index` of `count` of the data. `calibrated`: state files of
/// the first round of all parts, for the second one; empty: this is the first. Issues: a recipe whose ranges do not
/// follow from the samples in parts; files of other parts, models or data.
Result<CalibrationPart> calibratePart(const QuantizeInputs& inputs, size_t index, size_t count,
    const std::vector<std::string>& calibrated, const WorkContext& work);

/// The recipe's calibrators need counts, which take a second round.
bool needsSecondRound(const Recipe& recipe);

/// Lets quantizeModel() take what all parts found in place of calibrating (QuantizeInputs::earlier): what it makes then
/// equals in every bit what it makes of all samples. Writes it to QuantizeInputs::calibrationCache, too, where that is
/// given. Issues: as above; parts that lack what this recipe needs; a cache without data.
Status takeCalibration(QuantizeInputs& inputs, const std::vector<std::string>& calibrated, const WorkContext& work);

} // namespace qs
