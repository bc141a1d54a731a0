// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/draft.h"
#include "core/quant/calibrate/calibrate.h"

namespace qs {

struct AdaRoundOptions {
    uint64_t seed = 1; ///< of the positions that are looked at
    uint64_t patchBytes = uint64_t(256) << 20; ///< for samples of what layers read; more layers than fit: more passes
};

struct AdaRoundReport {
    size_t layers = 0;
    size_t changed = 0, weights = 0; ///< codes
    std::vector<std::string> skipped; ///< weights that are quantized and stay rounded to nearest, and why
};

/// Rounds weights up or down so that the outputs of each layer change least over the data, layer by layer from the
/// values of the float model. `quantized` is what the quantizer makes of `draft`: weights whose codes it holds are
/// moved in `draft`, within their range, to the middle of the wanted code, so that quantizing again gives that code at
/// the same scale. `run.plan` is the draft's plan; its `tensors` are not read. Conv, Gemm and MatMul with one scale for
/// all or one for each output. Memory: `patchBytes`, and on each thread the square of a layer's inputs.
Result<AdaRoundReport> adaRound(
    GraphDraft& draft, const GraphDraft& quantized, const AdaRoundOptions& options, CalibrationRun run);

} // namespace qs
