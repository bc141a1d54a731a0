// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/snapshot/snapshot.h"
#include "widgets/session/jobs/job_list.h"

namespace qs {

/// A snapshot that is quantized by this recipe: the one that is shown where it is, else one without a comparison.
Result<SnapshotPtr> quantizedSnapshot(const SnapshotPtr& shown, const Recipe& recipe, const JobContext& job);

} // namespace qs
