// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/blocks/block_panels.h"

#include <algorithm>

namespace qs {

namespace {

/// Where the byte of a code is, and whether it has the high half of it.
struct CodePlace {
    int64_t byte;
    bool high;
};

CodePlace placeOf(const BlockPanels& p, int64_t row, int64_t input)
{
    const int64_t each = p.halves ? 8 : 4, at = input % p.blockSize, group = at / each, k = at % each;
    const int64_t block = (row / kBlockPanel * p.blocks + input / p.blockSize) * p.blockBytes();
    return { block + (group * kBlockPanel + row % kBlockPanel) * 4 + k % 4, k >= 4 };
}

int64_t blockOf(const BlockPanels& p, int64_t row, int64_t b)
{
    return (row / kBlockPanel * p.blocks + b) * kBlockPanel + row % kBlockPanel;
}

void packBlock(const BlockCodes& b, BlockPanels& p, int64_t row, int64_t block)
{
    const int64_t first = block * b.blockSize, count = std::min(b.blockSize, b.depth - first);
    const uint8_t* codes = b.codes + row * b.blocks * b.blockSize + first;
    uint8_t* to = p.codes.data() + (row / kBlockPanel * p.blocks + block) * p.blockBytes() + row % kBlockPanel * 4;
    const int shift = p.halves ? 3 : 2; // of the inputs that lie together
    for (int64_t k = 0; k < count; ++k) {
        const int code = p.halves && (k & 4) ? codes[k] << 4 : codes[k];
        to[(k >> shift) * kBlockPanel * 4 + k % 4] |= static_cast<uint8_t>(code);
    }
}

} // namespace

int BlockPanels::code(int64_t row, int64_t input) const
{
    const CodePlace at = placeOf(*this, row, input);
    const uint8_t byte = codes[static_cast<size_t>(at.byte)];
    return !halves ? byte : at.high ? byte >> 4 : byte & 15;
}

float BlockPanels::zeroPointOf(int64_t row, int64_t b) const
{
    return zeroPoint.empty() ? zeroPointOfAll : zeroPoint[static_cast<size_t>(blockOf(*this, row, b))];
}

float BlockPanels::scaleOf(int64_t row, int64_t b) const { return scale[static_cast<size_t>(blockOf(*this, row, b))]; }

BlockPanels packBlocks(const BlockCodes& b, int bits)
{
    BlockPanels p { b.rows, b.depth, b.blocks, b.blockSize, bits <= 4, b.zeroPoint[0], {}, {}, {} };
    const int64_t perBlock = p.panels() * kBlockPanel * p.blocks;
    p.codes.assign(static_cast<size_t>(p.panels() * p.blocks * p.blockBytes()), 0);
    p.scale.assign(static_cast<size_t>(perBlock), 0);
    const bool same
        = std::all_of(b.zeroPoint, b.zeroPoint + b.rows * b.blocks, [&](float z) { return z == p.zeroPointOfAll; });
    if (!same)
        p.zeroPoint.assign(static_cast<size_t>(perBlock), 0);
    for (int64_t r = 0; r < b.rows; ++r) {
        for (int64_t block = 0; block < b.blocks; ++block) {
            const auto at = static_cast<size_t>(blockOf(p, r, block));
            p.scale[at] = b.scale[r * b.blocks + block];
            if (!same)
                p.zeroPoint[at] = b.zeroPoint[r * b.blocks + block];
        }
        for (int64_t block = 0; block < b.blocks; ++block)
            packBlock(b, p, r, block);
    }
    return p;
}

CodedRows::CodedRows(int64_t rows_, int64_t blocks_, int64_t blockSize_)
    : rows(rows_)
    , blocks(blocks_)
    , blockSize(blockSize_)
    , codes(static_cast<size_t>(rows * blocks * blockSize))
    , scale(static_cast<size_t>(rows * blocks))
    , sum(static_cast<size_t>(rows * blocks))
{
}

void multiplyCodesReference(
    const CodedRows& a, const BlockPanels& b, int64_t firstPanel, int64_t lastPanel, float* y) noexcept
{
    for (int64_t m = 0; m < a.rows; ++m)
        for (int64_t r = firstPanel * kBlockPanel; r < std::min(b.rows, lastPanel * kBlockPanel); ++r) {
            double total = 0;
            for (int64_t block = 0; block < b.blocks; ++block) {
                const auto zeroPoint = static_cast<int64_t>(b.zeroPointOf(r, block));
                int64_t sum = 0;
                for (int64_t k = block * b.blockSize; k < std::min(b.depth, (block + 1) * b.blockSize); ++k)
                    sum += a.codes[static_cast<size_t>(m * b.blocks * b.blockSize + k)] * (b.code(r, k) - zeroPoint);
                total += double(a.scale[static_cast<size_t>(m * b.blocks + block)]) * double(b.scaleOf(r, block))
                    * double(sum);
            }
            y[m * b.rows + r] = float(total);
        }
}

} // namespace qs
