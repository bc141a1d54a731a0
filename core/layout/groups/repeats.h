// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

namespace qs {

/// A graph as a row of boxes in topological order, reduced to what makes two boxes alike.
struct BoxRow {
    std::vector<uint32_t> labels; ///< equal for equal operators (type, attributes, sizes of constants)
    std::vector<std::vector<uint32_t>> inputs; ///< by box: places of the boxes that make its operands, in their order
    std::vector<uint32_t> scopeDepth; ///< by box: scopes of names that it shares with the box before it; empty: none
};

/// `count` blocks of `period` boxes each, one behind the other from `first` on.
struct BlockRun {
    uint32_t first = 0, period = 0, count = 0;
    uint32_t end() const { return first + period * count; }
    bool operator==(const BlockRun&) const = default;
};

inline constexpr uint32_t kLeastRunBoxes = 6; ///< shorter runs are not worth a box of their own
inline constexpr uint32_t kLongestPeriod = 2000;

/// Repeated blocks: consecutive subgraphs that are equal by operators, attributes and connections.
///
/// Blocks b and b + 1 of a run are equal when, box by box, the labels are equal, the numbers of operands are, and each
/// operand comes either from the same place of its own block in both, or from outside in both: then from the same box,
/// from places one period apart, or in the first of the two from before the run.
///
/// A graph in topological order is a row of labels, in which repeated blocks are what is known of texts as maximal
/// repetitions (Kolpakov and Kucherov, 1999). Networks are short and periods are few, so each period p is tried by
/// itself: the stretches where label[i] = label[i + p] are found in one pass, n * kLongestPeriod comparisons in all.
/// The stretch with the greatest boxes * log2(blocks)^2 is taken first: many boxes, and rather many small blocks than
/// few large ones. A stretch says nothing of where a block begins: that is where names change their scope,
/// then where the fewest values pass from block to block (a residual stream is one value there and two anywhere else),
/// then where there are most blocks. What is left is what the connections confirm. Runs do not overlap; they come in
/// ascending order.
std::vector<BlockRun> findRuns(const BoxRow& row);

/// The same, and repeated blocks in each block of a run, and runs that are repeated with what lies between them as a
/// whole; outer ones first.
std::vector<BlockRun> findNestedRuns(const BoxRow& row);

/// True when all blocks of the run are equal as said above.
bool blocksAreEqual(const BoxRow& row, const BlockRun& run);

} // namespace qs
