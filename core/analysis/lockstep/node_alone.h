// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/agreement/padded_positions.h"
#include "core/engine/run/execution.h"

#include <vector>

namespace qs {

/// Float values that the pair's quantized node needs to run alone: the float partners of its activation inputs.
/// Empty when it cannot run alone (an input without partner, a dynamic group).
std::vector<ValueId> nodeAloneInputs(const ComparePair& pair, const PairPlan& plan);

/// Runs the quantized node that makes the pair's value on the float model's inputs, each passed through its own input
/// quantizer, before its own output quantizer, and adds the error against x; of elements of these runs alone, where
/// they are given.
void measureNodeAlone(const ComparePair& pair, const PairPlan& plan, const Execution& f, const Tensor& x,
    BufferPool& pool, const std::optional<ElementRuns>& runs, PairSums& sums);

} // namespace qs
