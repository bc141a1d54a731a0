// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/pairs/compare_pair.h"
#include "core/project/snapshot/build_context.h"

#include <functional>

namespace qs {

class FoldedConstants;

struct Compared {
    Comparison comparison;
    std::shared_ptr<const Measured> measured; ///< of a shard, else null
};
/// Runs both models over the samples. `partial` (may be empty) gets the numbers so far, from a worker thread.
Result<Compared> compareSampled(
    const ComparisonKey& key, const BuildContext& context, const std::function<void(Comparison)>& partial);

/// The two models of a snapshot that holds both and their alignment, ready to compare in its arithmetic.
ComparePair comparePairOf(const Snapshot& snapshot);

/// The float model's constants as the snapshot's quantized model stores them.
FoldedConstants foldedConstantsOf(const Snapshot& snapshot);

} // namespace qs
