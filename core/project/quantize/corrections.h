// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/work/cancel.h"
#include "core/base/work/progress.h"
#include "core/base/work/work_context.h"
#include "core/project/quantize/quantization.h"
#include "core/quant/write/quantizer.h"

#include <functional>

namespace qs {

/// A float graph on its way to a quantized one.
struct FloatState {
    GraphDraft draft;
    Recipe recipe; ///< how to quantize `draft` as it is now: no correction is left to do
    Recipe applied; ///< as given, with those corrections that are already in `draft`
    Ranges ranges;
    std::shared_ptr<const KeptCalibration> kept;
};
/// The state before any correction.
FloatState uncorrected(GraphDraft draft, const Recipe& recipe);

/// How the steps in between are done.
struct CorrectionHooks {
    std::function<Status(FloatState&)> findRanges; ///< of the draft, if the form needs any
    std::function<Result<QuantizedDraft>(const FloatState&, const Recipe&)> quantize;
};

bool asksForCorrections(const Recipe& recipe);

/// Does what the recipe asks for in this order: equalization, SmoothQuant, ranges, weight rounding, bias correction.
/// All of them change the float graph so that quantizing it as usual gives the corrected model; what each gains is
/// measured on the data where there are any.
Result<std::vector<CorrectionReport>> correctModel(
    FloatState& state, const QuantizeInputs& inputs, const CorrectionHooks& hooks, const WorkContext& work);

} // namespace qs
