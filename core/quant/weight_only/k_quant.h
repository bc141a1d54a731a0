// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/weight_only/block_matrix.h"

namespace qs {

/// Scale and minimum of each block by weighted least squares over a few trial grids. Source: llama.cpp's k-quants, with
/// the arithmetic of ONNX Runtime's k_quant (NumPy, float32).
BlockMatrix kQuantBlocks(std::span<const float> values, const Tensor& matrix, const BlockRules& rules);

} // namespace qs
