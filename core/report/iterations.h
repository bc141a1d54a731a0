// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/snapshot/snapshot.h"

namespace qs {

/// One value of a Loop's or Scan's body over all iterations.
struct IterationRow {
    std::string loop, opType; ///< the node of the float model
    std::string inner; ///< the value's name in the body
    Number sqnrDb; ///< all iterations together
    std::vector<Number> byIteration; ///< SQNR in dB, one an iteration; nothing where it is exact or not paired
    std::vector<bool> exact; ///< by iteration: equal in every bit
    std::vector<std::string> names; ///< of the rows of `Comparison::activations`; "" where it is not paired
    /// SQNR of the last iteration less that of the first one, in dB: below 0 where the error grows along the sequence.
    Number changeDb;
};

/// In the order of the float graph; empty where no loop was expanded.
std::vector<IterationRow> iterationRows(const Snapshot& snapshot);

} // namespace qs
