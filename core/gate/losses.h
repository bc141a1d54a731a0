// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/rows/comparison.h"
#include "core/gate/gate_check.h"

namespace qs {

/// Every row of the baseline against the row of that name in the comparison. Of several of one name the first is held
/// against the first, and so on. How many could be judged.
size_t addLosses(const Comparison& comparison, const BaselineLimit& limit, std::vector<GateCheck>& checks);
/// What was otherwise when the baseline was made.
std::vector<std::string> baselineDoubts(const Comparison& comparison, const BaselineLimit& limit);

} // namespace qs
