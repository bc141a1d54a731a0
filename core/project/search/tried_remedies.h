// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/base/work/cancel.h"
#include "core/base/work/progress.h"
#include "core/project/snapshot/snapshot.h"

namespace qs {

/// A recipe can mend it, otherwise than by another form alone.
bool canBeTried(const Finding& finding);

/// Tries the remedies of the first `most` findings that have one: each is made (in the recipe that makes the quantized
/// model; in the file itself where none does) and run over the same samples. Where something is wrong and no single
/// remedy mends it, the search goes on with several together, other ranges, nodes in float (see searchTogether).
/// The snapshot with what was measured in its findings. One that does not help at the output is not offered: its change
/// is None, its remedy says what it gained. Findings of one severity are in the order of what they gain. A remedy that
/// cannot be tried keeps no number; where nothing can be, a warning says why. Issue: cancelled.
/// `threads`: to run with; 0: those of the snapshot.
Result<SnapshotPtr> withTriedRemedies(const SnapshotPtr& snapshot, size_t most, const ProgressFn& progress,
    const CancelToken& cancel, size_t threads = 0);

/// The quantized model with the remedy that is offered as this one, from 1 on, as it was measured, to be written.
/// `tried`: of withTriedRemedies. Issues: not so many are offered; cancelled.
Result<GraphDraft> mendedModel(const SnapshotPtr& tried, size_t number, const CancelToken& cancel);

} // namespace qs
