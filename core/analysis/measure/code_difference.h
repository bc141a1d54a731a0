// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/run/execution.h"

#include <cstdint>
#include <map>
#include <mutex>

namespace qs {

/// Codes of one tensor that two arithmetics make of the same codes before it.
struct CodeDifference {
    uint64_t count = 0, offByOne = 0, beyond = 0;
    uint64_t squares = 0; ///< sum of the squared differences
};
/// The tensors may lie in different layouts.
CodeDifference differenceOf(const Tensor& a, const Tensor& b);

/// What an integer profile makes of a file besides what it computes: which codes differ from the file as written, and
/// which sums saturated. Integers, so the order of samples does not matter.
struct ImplementationSums {
    std::mutex mutex;
    std::map<ValueId, CodeDifference> codes;
    std::map<NodeId, PairCounts> pairs;
};

/// Adds the counts of one execution to others of the same plan.
void addPairCounts(std::map<NodeId, PairCounts>& total, const std::map<NodeId, PairCounts>& counts);

} // namespace qs
