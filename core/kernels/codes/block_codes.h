// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

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

/// A row of floats as signed 8-bit codes, block by block: scale = largest magnitude / 127, rounded half to even.
/// `codes` has blocks * blockSize places (the rest 0), `scale` one a block.
void quantizeBlocks(const float* x, int64_t depth, int64_t blockSize, int8_t* codes, float* scale) noexcept;

/// The weights with their zero points taken off, widened, for products with such rows.
struct WideBlocks {
    int64_t rows = 0, blocks = 0, blockSize = 0;
    std::vector<int16_t> codes; ///< rows x blocks * blockSize
    std::vector<float> scale; ///< rows x blocks
};
/// Needs zero points that are integers and no groups. blockSize must be a multiple of 16.
WideBlocks widenBlocks(const BlockCodes& b);

/// out[r] = sum over blocks of a's scale * b's scale * (sum of products of codes), for each row of b: integers are
/// summed exactly, the blocks in double, in order. Equal bits on every CPU.
void multiplyBlocksReference(const int8_t* a, const float* aScale, const WideBlocks& b, float* out) noexcept;
void multiplyBlocks(const int8_t* a, const float* aScale, const WideBlocks& b, float* out) noexcept;

} // namespace qs
