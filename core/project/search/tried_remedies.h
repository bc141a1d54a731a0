// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/base/work/cancel.h"
#include "core/base/work/progress.h"
#include "core/project/snapshot/snapshot.h"

namespace qs {

/// A recipe can mend it, otherwise than by another form alone.
bool canBeTried(const Finding& finding);

/// Tries the remedies of the first `most` findings that a recipe can mend, each alone: quantizes the float model by the
/// recipe (that of the snapshot, or what the quantized file shows of its own) with the change, and runs it over the
/// same samples. The snapshot with Finding::measuredGainDb filled in, and findings of one severity in the order of what
/// they gain. A remedy that cannot be tried keeps none; where no recipe is found that makes about what the quantized
/// file is, a warning says so. Issue: cancelled.
Result<SnapshotPtr> withTriedRemedies(
    const SnapshotPtr& snapshot, size_t most, const ProgressFn& progress, const CancelToken& cancel);

} // namespace qs
