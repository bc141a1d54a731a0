// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/draft.h"
#include "core/quant/calibrate/calibrate.h"

namespace qs {

struct SmoothReport {
    size_t inputs = 0; ///< values that were smoothed
    size_t folded = 0; ///< of them: without a new node
    std::vector<std::string> added; ///< names of new Mul nodes, which should stay float
    std::vector<std::string> nowhere; ///< convolutions whose input no constant can smooth; these stay as they are
};

/// SmoothQuant: channel by channel, what a chosen Gemm, MatMul or Conv reads is divided by
/// max|x|^alpha / max|w|^(1 - alpha) and its weight multiplied by it; readers of one value share the factors. The model
/// computes the same function. With folding the division goes into the constants of what makes the value where that is
/// possible; else a Mul is put before Gemm and MatMul. Needs one run over the data, from which it keeps one number a
/// channel. `run.plan` is the draft's plan; its `tensors` are not read.
/// Source: Xiao et al. 2022, SmoothQuant: Accurate and Efficient Post-Training Quantization for Large Language Models.
Result<SmoothReport> smoothInputs(
    GraphDraft& draft, const std::vector<bool>& chosen, double alpha, bool folding, CalibrationRun run);

} // namespace qs
