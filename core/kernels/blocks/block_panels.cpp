// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/blocks/block_panels.h"

#include <algorithm>
#include <cmath>
#include <span>

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

/// Code k of a row.
int codeAt(const uint8_t* row, int bits, int64_t k)
{
    const int64_t perByte = 8 / bits;
    return (row[k / perByte] >> (bits * (k % perByte))) & ((1 << bits) - 1);
}

/// Eight neighbouring codes of 4 bits in the order of panels.
void packEight(const uint8_t* from, uint8_t* to)
{
    to[0] = static_cast<uint8_t>((from[0] & 15) | from[2] << 4);
    to[1] = static_cast<uint8_t>(from[0] >> 4 | (from[2] & 240));
    to[2] = static_cast<uint8_t>((from[1] & 15) | from[3] << 4);
    to[3] = static_cast<uint8_t>(from[1] >> 4 | (from[3] & 240));
}

void packBlock(const StoredBlocks& b, BlockPanels& p, int64_t row, int64_t block)
{
    constexpr int64_t kBetween = kBlockPanel * 4; // bytes from one group of inputs to the next
    const int64_t first = block * b.blockSize, count = std::min(b.blockSize, b.depth - first);
    const uint8_t* from = b.bytes + row * b.rowBytes();
    uint8_t* to = p.codes.data() + (row / kBlockPanel * p.blocks + block) * p.blockBytes() + row % kBlockPanel * 4;
    int64_t k = 0;
    if (b.bits == 4)
        for (; k + 8 <= count; k += 8)
            packEight(from + (first + k) / 2, to + k / 8 * kBetween);
    const int shift = p.halves ? 3 : 2; // of the inputs that lie together
    for (; k < count; ++k) {
        const int code = codeAt(from, b.bits, first + k);
        to[(k >> shift) * kBetween + k % 4] |= static_cast<uint8_t>(p.halves && (k & 4) ? code << 4 : code);
    }
}

bool isCode(float zeroPoint) { return zeroPoint >= 0 && zeroPoint <= 255 && zeroPoint == std::trunc(zeroPoint); }

} // namespace

int BlockPanels::code(int64_t row, int64_t input) const
{
    const CodePlace at = placeOf(*this, row, input);
    const uint8_t byte = codes[static_cast<size_t>(at.byte)];
    return !halves ? byte : at.high ? byte >> 4 : byte & 15;
}

float BlockPanels::zeroPointOf(int64_t row, int64_t b) const
{
    const auto at = static_cast<size_t>(blockOf(*this, row, b));
    return !zeroCode.empty() ? zeroCode[at] : !zeroPoint.empty() ? zeroPoint[at] : zeroPointOfAll;
}

float BlockPanels::scaleOf(int64_t row, int64_t b) const { return scale[static_cast<size_t>(blockOf(*this, row, b))]; }

BlockPanels panelsWithoutCodes(const StoredBlocks& b)
{
    BlockPanels p { b.rows, b.depth, b.blocks, b.blockSize, b.bits <= 4, b.zeroPoint[0], {}, {}, {}, {} };
    const std::span zeroPoints(b.zeroPoint, static_cast<size_t>(b.rows * b.blocks));
    const auto perBlock = static_cast<size_t>(p.panels() * kBlockPanel * p.blocks);
    p.codes.assign(static_cast<size_t>(p.panels() * p.blocks * p.blockBytes()), 0);
    p.scale.assign(perBlock, 0);
    if (!std::ranges::all_of(zeroPoints, [&](float z) { return z == p.zeroPointOfAll; })) {
        const bool codes = std::ranges::all_of(zeroPoints, isCode);
        p.zeroCode.assign(codes ? perBlock : 0, 0);
        p.zeroPoint.assign(codes ? 0 : perBlock, 0);
    }
    for (int64_t r = 0; r < b.rows; ++r)
        for (int64_t block = 0; block < b.blocks; ++block) {
            const auto at = static_cast<size_t>(blockOf(p, r, block));
            p.scale[at] = b.scale[r * b.blocks + block];
            if (!p.zeroCode.empty())
                p.zeroCode[at] = static_cast<uint8_t>(b.zeroPoint[r * b.blocks + block]);
            else if (!p.zeroPoint.empty())
                p.zeroPoint[at] = b.zeroPoint[r * b.blocks + block];
        }
    return p;
}

void packCodes(const StoredBlocks& b, int64_t firstRow, int64_t lastRow, BlockPanels& panels) noexcept
{
    for (int64_t r = firstRow; r < lastRow; ++r)
        for (int64_t block = 0; block < b.blocks; ++block)
            packBlock(b, panels, r, block);
}

BlockPanels packBlocks(const StoredBlocks& b)
{
    BlockPanels p = panelsWithoutCodes(b);
    packCodes(b, 0, b.rows, p);
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
