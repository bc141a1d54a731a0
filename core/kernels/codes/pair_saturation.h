// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/kernels/codes/integer_conv.h"
#include "core/kernels/codes/saturated_pair.h"

#include <cstdint>
#include <vector>

/// What products of u8 and s8 codes lose on x86 CPUs with AVX2 and without VNNI: VPMADDUBSW adds two neighbouring
/// products (k = 0 and 1, 2 and 3 ... from the start of the depth) into one signed 16-bit number that saturates;
/// everything after that is exact. Emulated as a correction to exact sums, on any CPU. The terms are raw codes, before
/// zero points are taken off. Sources: Intel's description of VPMADDUBSW; ONNX Runtime's kernels, measured.
namespace qs {

/// Pairs of one right matrix that can saturate for some codes of the left one, column by column.
struct SaturationTable {
    struct Pair {
        int64_t index = 0; ///< k = 2 * index and the one after it
        int32_t w0 = 0, w1 = 0;
    };
    int64_t depth = 0;
    std::vector<Pair> pairs;
    std::vector<size_t> first; ///< by column, one more at the end
    int64_t columns() const { return first.empty() ? 0 : static_cast<int64_t>(first.size()) - 1; }
};
/// `b` holds signed codes [depth, columns].
SaturationTable saturationTable(const CodeMatrix& b);

/// Corrects the sums of one row, given its raw unsigned codes (table.depth of them), and adds what saturated to the
/// tally, whose columns begin with `firstColumn`.
void saturatePairs(
    const SaturationTable& table, const uint8_t* row, int32_t* sums, SaturationTally& tally, int64_t firstColumn = 0);

/// The tables of a convolution's signed weights [M, C / groups, kernel], one a group. Its depth runs over the kernel's
/// positions, and at each over the channels. Where each group has one channel in and out ONNX Runtime has a depthwise
/// kernel, which does not saturate, for a single group, too: none.
std::vector<SaturationTable> convSaturationTables(const IntegerConv& conv, Codes w);
/// Corrects sums[position][M] of output positions first..first+count-1 of one batch item. x is channels-last; its codes
/// and zero point are taken modulo 256 after adding `shift`. Positions outside hold the zero point. `scratch`: one row.
void saturateConvRows(const IntegerConv& conv, std::span<const SaturationTable> tables, const uint8_t* x, int32_t xZero,
    int32_t shift, int64_t first, int64_t count, uint8_t* scratch, int32_t* sums, SaturationTally& tally);
/// 8-bit numbers of scratch for that.
int64_t saturationScratch(const IntegerConv& conv);

/// The sums themselves as the instruction makes them, without correction for zero points: loops as the formula says.
void saturatingSumsReference(const CodeMatrix& a, const CodeMatrix& b, int32_t* sums);

} // namespace qs
