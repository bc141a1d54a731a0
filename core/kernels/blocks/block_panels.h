// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/kernels/blocks/block_codes.h"
#include "core/kernels/cpu/aligned.h"

/// Weights in blocks as products read them, code by code out of memory: nothing is widened before it is needed.
namespace qs {

/// Rows of weights that a product makes at once.
constexpr int64_t kBlockPanel = 16;

/// Panels of 16 rows; missing rows are zeros. By panel, block and eight (four where codes have 8 bits) neighbouring
/// inputs: 4 bytes a row. Byte i holds inputs i (its low half) and i + 4 (its high half), or the whole code of input i.
struct BlockPanels {
    int64_t rows = 0, depth = 0, blocks = 0, blockSize = 0;
    bool halves = true; ///< codes have 4 bits at most
    float zeroPointOfAll = 0; ///< where there are no others
    LineVector<uint8_t> codes;
    LineVector<float> scale; ///< by panel and block: one a row
    LineVector<uint8_t> zeroCode; ///< the same of zero points that are codes; empty where all are equal
    LineVector<float> zeroPoint; ///< of those that are no codes
    int64_t panels() const { return (rows + kBlockPanel - 1) / kBlockPanel; }
    /// Bytes of one block of a panel.
    int64_t blockBytes() const { return kBlockPanel * blockSize / (halves ? 2 : 1); }
    const uint8_t* block(int64_t panel, int64_t b) const { return codes.data() + (panel * blocks + b) * blockBytes(); }
    int code(int64_t row, int64_t input) const;
    float zeroPointOf(int64_t row, int64_t b) const;
    float scaleOf(int64_t row, int64_t b) const;
};
/// Weights as files store them. Needs a blockSize that is a multiple of 16.
struct StoredBlocks {
    const uint8_t* bytes = nullptr; ///< rows x blocks * blockSize codes of `bits` bits, lowest first
    int bits = 4; ///< 2, 4 or 8
    const float* scale = nullptr; ///< rows x blocks
    const float* zeroPoint = nullptr; ///< rows x blocks
    int64_t rows = 0, depth = 0, blocks = 0, blockSize = 0;
    int64_t rowBytes() const { return blocks * blockSize * bits / 8; }
};
/// Everything but the codes, for which there is room.
BlockPanels panelsWithoutCodes(const StoredBlocks& b);
/// The codes of rows firstRow .. lastRow - 1; reads no other bytes of b.
void packCodes(const StoredBlocks& b, int64_t firstRow, int64_t lastRow, BlockPanels& panels) noexcept;
/// Both, of all rows.
BlockPanels packBlocks(const StoredBlocks& b);

/// Rows of activations as quantizeBlocks() makes them.
struct CodedRows {
    CodedRows(int64_t rows, int64_t blocks, int64_t blockSize);
    int64_t rows, blocks, blockSize;
    LineVector<int8_t> codes; ///< rows x blocks * blockSize
    std::vector<float> scale; ///< rows x blocks
    std::vector<int32_t> sum; ///< rows x blocks: of the codes
};
/// Fills one row from `depth` floats, with the codes of quantizeBlocks().
void codeRow(const float* x, int64_t depth, int64_t row, CodedRows& out) noexcept;

/// y[m * b.rows + r] = sum over blocks of a's scale * b's scale * (sum of products of codes, zero points taken off):
/// integers are summed exactly, the blocks in double, in order. Equal bits on every CPU. Zero points must be codes,
/// blockSize at most 2^15. Only rows r of panels firstPanel .. lastPanel - 1.
void multiplyCodesReference(
    const CodedRows& a, const BlockPanels& b, int64_t firstPanel, int64_t lastPanel, float* y) noexcept;
void multiplyCodes(const CodedRows& a, const BlockPanels& b, int64_t firstPanel, int64_t lastPanel, float* y) noexcept;

} // namespace qs
