// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/draft.h"
#include "core/quant/calibrate/calibrate.h"

namespace qs {

struct BiasCorrectionOptions {
    size_t mostFeeds = 64;
    uint64_t bytes = uint64_t(512) << 20; ///< for values of all runs that are under way at one time
};

struct BiasCorrectionReport {
    size_t layers = 0;
    size_t changed = 0; ///< biases; a layer without any gets them where its operator takes them
    size_t feeds = 0; ///< runs that it was measured on
};

/// Takes out of each bias by how much quantization moves the mean of its output channel over the data. The quantized
/// model runs on all chosen runs of the data side by side, from layer to layer, and each layer is corrected before the
/// next one runs, so that this one sees the effect. A mean that differs much from run to run is taken in part only.
/// `quantized` is what the quantizer makes of `draft`, with float values between its operators; the biases of `draft`
/// are changed. Nodes that are not `chosen` keep theirs. `run.plan` is the float model's plan, whose values have the
/// names of the draft's (its weights may be rounded already); `run.tensors` are not read. Source: Nagel et al. 2019,
/// Data-Free Quantization Through Weight Equalization and Bias Correction, section 4.2 (empirical form); shrinkage
/// after James and Stein 1961.
Result<BiasCorrectionReport> correctBiases(GraphDraft& draft, const GraphDraft& quantized,
    const std::vector<bool>& chosen, const BiasCorrectionOptions& options, CalibrationRun run);

} // namespace qs
