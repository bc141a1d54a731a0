// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>

/// Weights stored as small codes in blocks, each with its own scale and zero point, and their products.
/// Source: ONNX Runtime's operators MatMulNBits and MatMulBnb4.
namespace qs {

/// rows x depth weights, one byte a code. Element k of a row belongs to block group[k], or k / blockSize without
/// groups.
struct BlockCodes {
    const uint8_t* codes = nullptr; ///< rows x blocks * blockSize
    const float* scale = nullptr; ///< rows x blocks
    const float* zeroPoint = nullptr; ///< rows x blocks
    const int32_t* group = nullptr; ///< depth, may be null
    int64_t rows = 0, depth = 0, blocks = 0, blockSize = 0;
};
/// out[k * rows + r] = (code - zero point) * scale: depth x rows, as a product from the right takes it.
void dequantizeBlocks(const BlockCodes& b, float* out) noexcept;

/// The sixteen values of a 4-bit float code. Sources: Dettmers et al., 8-bit optimizers; QLoRA (NF4).
enum class FloatTable { Fp4, Nf4 };
const float* tableValues(FloatTable table) noexcept;

/// Elements of a row that share a scale where rows are multiplied as codes of 8 bits (accuracy level 4), by bits and
/// block size of the weight; 0: rows stay floats. Source: ONNX Runtime 1.32 on x64, measured.
constexpr int64_t codedRowBlock(int64_t bits, int64_t blockSize)
{
    constexpr int64_t kLargest = 256;
    if (bits == 2)
        return blockSize >= 32 && blockSize < kLargest ? blockSize : 0;
    return blockSize < kLargest ? blockSize : kLargest;
}

/// Codes a unit where the largest magnitude of a block becomes 127. ONNX Runtime multiplies by this, which is not
/// always the same as dividing by the scale (measured on 1.32, x64).
inline float codesPerUnit(float largest) { return largest != 0 ? 127.0f / largest : 0.0f; }

/// A row of floats as signed 8-bit codes, block by block: scale = largest magnitude / 127, x times codesPerUnit()
/// rounded half to even. `codes` has blocks * blockSize places (the rest 0), `scale` one a block.
void quantizeBlocks(const float* x, int64_t depth, int64_t blockSize, int8_t* codes, float* scale) noexcept;

} // namespace qs
