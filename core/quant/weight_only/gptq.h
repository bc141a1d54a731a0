// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/quant/weight_only/block_matrix.h"

namespace qs {

/// What GPTQ knows of the rows that a matrix [K, N] is multiplied with: H = 2/n sum of x xT over n samples.
struct InputProducts {
    size_t size = 0; ///< K
    std::vector<double> diagonal;
    std::vector<double> full; ///< K x K, symmetric; empty where only the diagonal was gathered
};

/// Source: Frantar et al., "GPTQ: Accurate Post-Training Quantization for Generative Pre-trained Transformers" (2022).
/// Without spreadErrors the result is that of ONNX Runtime's code, to the bit but for the order of equal entries of the
/// diagonal (reorder); with it `full` is needed. Issues (without a name): NaN or infinity, a Hessian that is not
/// positive.
Result<BlockMatrix> gptqBlocks(
    const Tensor& matrix, const InputProducts& inputs, const BlockRules& rules, const GptqOptions& options);

} // namespace qs
