// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/quant/recipe.h"
#include "core/tensor/tensor.h"

namespace qs {

/// How a matrix becomes blocks of codes.
struct BlockRules {
    int bits = 4; ///< 4 or 8
    int64_t blockSize = 128; ///< rows of one column that share a scale
    bool symmetric = false; ///< without zero points
    WeightOnlyAlgorithm algorithm = WeightOnlyAlgorithm::Default;
    /// DequantizeLinear's form: signed codes where symmetric, the zero point added after rounding.
    bool dequantizeForm = false;
};

/// A matrix [K, N] in blocks along K; all lists run over the blocks of the first column, then of the second ...
struct BlockMatrix {
    int64_t rows = 0, columns = 0, blocks = 0; ///< blocks of one column
    std::vector<float> scales; ///< exact in the matrix's type; may be negative (Default, symmetric)
    std::vector<uint8_t> zeroPoints;
    std::vector<uint8_t> codes; ///< one a byte, [N, K]; signed ones as two's complement
};

/// Source: ONNX Runtime, MatMulNBitsQuantizer (MLAS' blockwise quantization and its round to nearest), to the bit.
/// Issue (without a name): NaN or infinity.
Result<BlockMatrix> quantizeBlocks(const Tensor& matrix, const BlockRules& rules);

/// B and zero points of the MatMulNBits operator: [N, blocks, bytes], [N, bytes].
Tensor packedColumns(const BlockMatrix& matrix, const BlockRules& rules);
Tensor packedZeroPoints(const BlockMatrix& matrix, const BlockRules& rules);

} // namespace qs
