// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/base/work/cancel.h"
#include "core/base/work/progress.h"
#include "core/project/snapshot/snapshot.h"

#include <functional>

namespace qs {

/// The one path from inputs to a Snapshot, for the command line and the window alike. Loads, pairs, and (when both
/// models and data are there) runs both in lockstep. A step whose key is that of `previous` is not done again: its
/// result is taken from there. An Issue leaves `previous` as it was; cancellation is an Issue of kind Cancelled.
Result<SnapshotPtr> buildSnapshot(
    const Inputs& inputs, const SnapshotPtr& previous, const ProgressFn& progress, const CancelToken& cancel);

/// Called from a worker thread: once with the models alone, as soon as other files than before are read, so that they
/// can be drawn; then now and then while a comparison runs, with the numbers so far (Comparison::partial).
using PartialFn = std::function<void(SnapshotPtr)>;
Result<SnapshotPtr> buildSnapshot(const Inputs& inputs, const SnapshotPtr& previous, const ProgressFn& progress,
    const CancelToken& cancel, const PartialFn& partial);

/// An issue when somebody wrote one of its models since it was opened: what the snapshot says of it does not hold.
Status unchanged(const Snapshot& snapshot);

} // namespace qs
