// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/weight_only/block_matrix.h"

namespace qs {

/// Half-quadratic quantization: the zero points (real numbers) are moved, step by step, to where the error's 0.7-norm
/// is small. Source: Badri and Shaji, "Half-Quadratic Quantization of Large Machine Learning Models" (2023), with the
/// arithmetic of ONNX Runtime's HQQ on PyTorch's CPU kernels, one thread.
BlockMatrix hqqBlocks(std::span<const float> values, const Tensor& matrix, const BlockRules& rules);

} // namespace qs
