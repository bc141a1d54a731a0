// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/calibrate/calibrator_options.h"

namespace qs {

/// The entropy search has one range to choose from, the whole one: its histogram has no more bins than it has quantized
/// ones, as by ONNX Runtime's defaults (128 and 128).
bool oneCandidate(const CalibratorOptions& options);

} // namespace qs
