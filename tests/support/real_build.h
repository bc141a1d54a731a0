// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/snapshot/build_snapshot.h"
#include "widgets/session/session.h"

namespace qs::test {

/// What the program gives its session: snapshots as the command line makes them.
inline BuildFn realBuild()
{
    return [](const Inputs& inputs, const SnapshotPtr& previous, const ProgressFn& progress, const CancelToken& cancel,
               const PartialFn& partial) { return buildSnapshot(inputs, previous, progress, cancel, partial); };
}

} // namespace qs::test
