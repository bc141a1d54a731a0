// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/recipe/recipe.h"
#include "core/tensor/tensor.h"

#include <string>
#include <vector>

namespace qs {

/// How a matrix becomes blocks of codes.
struct BlockRules {
    int bits = 4; ///< 2 (Default and Hqq only), 4 or 8
    int64_t blockSize = 128; ///< rows of one column that share a scale
    bool symmetric = false; ///< without zero points
    WeightOnlyAlgorithm algorithm = WeightOnlyAlgorithm::Default;
    /// DequantizeLinear's form: signed codes where symmetric, the zero point added after rounding.
    bool dequantizeForm = false;
    float clipRatio = 1; ///< share of a block's range that its scale covers; RoundToNearest
    size_t threads = 1; ///< the result does not depend on it

    int levels() const { return (1 << bits) - 1; }
    std::string text() const; ///< equal for rules that give equal codes
};

/// A matrix [K, N] in blocks along K; all lists run over the blocks of the first column, then of the second ...
struct BlockMatrix {
    int64_t rows = 0, columns = 0, blocks = 0; ///< blocks of one column
    std::vector<float> scales; ///< exact in the matrix's type; may be negative (Default, symmetric)
    std::vector<uint8_t> zeroPoints; ///< the code of zero
    std::vector<float> realZeros; ///< Hqq alone: zero points between codes
    std::vector<uint8_t> codes; ///< one a byte, [N, K]; signed ones as two's complement

    /// Room for blocks of `blockSize` of a matrix of that shape.
    static BlockMatrix sized(const Tensor& matrix, int64_t blockSize);
    size_t at(size_t column, size_t block) const { return column * static_cast<size_t>(blocks) + block; }
};

/// B and zero points of the MatMulNBits operator: [N, blocks, bytes], [N, bytes].
Tensor packedColumns(const BlockMatrix& matrix, const BlockRules& rules);
Tensor packedZeroPoints(const BlockMatrix& matrix, const BlockRules& rules);

/// The constants of a file that hold a matrix in blocks.
struct BlockTensors {
    Tensor codes, scales;
    Tensor zeroPoints; ///< invalid: there are none
};
/// Inputs of MatMulNBits; `real`: type of the scales, and of the zero points of Hqq.
BlockTensors operatorTensors(const BlockMatrix& matrix, const BlockRules& rules, DType real);
/// Inputs of a DequantizeLinear of 4 bits; `byRows`: of the matrix the other way round, in one block a row.
BlockTensors dequantizerTensors(const BlockMatrix& matrix, const BlockRules& rules, DType real, bool byRows);

} // namespace qs
