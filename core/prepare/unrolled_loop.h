// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/plan/plan.h"
#include "core/prepare/body_copy.h"
#include "core/prepare/iteration_value.h"

namespace qs {

/// A Loop or Scan (from opset 9 on) in one form.
struct LoopShape {
    std::string reason; ///< why it cannot be unrolled; empty where it can
    bool known = true; ///< `reason` is complete; false: it goes on with what the inputs in `follows` depend on
    std::shared_ptr<const Graph> body;
    int64_t trips = 0; ///< at least 1
    bool counts = false; ///< Loop: the body begins with iteration and condition and returns the condition first
    size_t states = 0, rows = 0; ///< values that go from iteration to iteration; inputs that are read row by row
    std::vector<size_t> follows; ///< inputs of the node that the number of iterations follows from
    bool bySize = false; ///< from their sizes
    std::vector<int64_t> rowAxes, rowDirections, stackAxes, stackDirections; ///< as attributes of Scan; may be short
};

/// `plan`: of the draft that the node is in.
LoopShape loopShape(const DraftNode& node, const Plan& plan);

/// All iterations one after the other, in the node's place; appends what each computes to `values`.
Status unrollLoop(
    const DraftNode& node, const LoopShape& shape, BodyTarget& target, std::vector<IterationValue>& values);

} // namespace qs
