// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/rows/activation_row.h"

namespace qs {

/// What a quantizer would make of a tensor's values, without running anything.
struct PredictedNoise {
    NoiseSplit split; ///< without a part of the kernel
    bool kernelWithin = false; ///< `inherited` holds what the integer kernel makes, too
    double clippedFraction = 0;
    Number sqnrDb; ///< accumulated; empty without signal or noise
    bool operator==(const PredictedNoise&) const = default;
};

/// The noise with `params` (per tensor, integer) in place of the tensor's own quantizer, from the histogram of a(p) and
/// from what came in with an error: values are taken as evenly spread inside a bin. What came in is known of some
/// elements only; by as much as they are wrong about what the row's own quantizer was measured with, the prediction is
/// put right. Empty where the row has no histogram of a(p), or `params` has no scale.
std::optional<PredictedNoise> predictNoise(const ActivationRow& row, const QuantParams& params);

} // namespace qs
