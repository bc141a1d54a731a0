// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/pairs/pair_plan.h"
#include "core/engine/run/execution.h"

#include <vector>

namespace qs {

/// Float values that the pair's quantized node needs to run alone: the float partners of its activation inputs.
/// Empty when it cannot run alone (an input without partner, a dynamic group).
std::vector<ValueId> nodeAloneInputs(const ComparePair& pair, const PairPlan& plan);

/// Runs the quantized node that makes the pair's value on the float model's inputs, each passed through its own input
/// quantizer, before its own output quantizer, and adds the error against x.
void measureNodeAlone(const ComparePair& pair, const PairPlan& plan, const Execution& f, const Tensor& x,
    BufferPool& pool, PairSums& sums);

} // namespace qs
