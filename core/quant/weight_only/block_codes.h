// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/quant/weight_only/block_matrix.h"

#include <span>

namespace qs {

/// Float32, Float16 or (Default alone) BFloat16. Source: ONNX Runtime, MatMulNBitsQuantizer (MLAS' blockwise
/// quantization, round to nearest, HQQ, k-quant), to the bit. Gptq: as RoundToNearest. Issue (without a name): NaN or
/// infinity.
Result<BlockMatrix> quantizeBlocks(const Tensor& matrix, const BlockRules& rules);

/// The step that all of them share after their own: round to nearest of these [K, N] values of type `real`.
BlockMatrix nearestBlocks(std::span<const float> values, const Tensor& matrix, const BlockRules& rules);

} // namespace qs
