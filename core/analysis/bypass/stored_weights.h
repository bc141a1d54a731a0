// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/pairs/pair_plan.h"
#include "core/base/result.h"

#include <memory>
#include <vector>

namespace qs {

/// Both files without quantizers and with the weights that the quantized one stores.
struct BypassedPair {
    std::shared_ptr<const Plan> floatPlan, quantPlan;
};
/// For files with other weights, as training after the export leaves them: the float model takes over every constant of
/// the quantized file, normalization behind a convolution is folded into it on both sides. The issue names a constant
/// of the float model that has no counterpart.
Result<BypassedPair> bypassWithStoredWeights(const ComparePair& pair, const std::vector<PairPlan>& pairs);

} // namespace qs
