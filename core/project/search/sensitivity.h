// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/sensitivity/sensitivity.h"
#include "core/project/snapshot/snapshot.h"

namespace qs {

/// What each unit of a snapshot's recipe does to the outputs, over the snapshot's samples, in its arithmetic, with the
/// ranges it was quantized with. `only` and `exclusions` as in SensitivityInputs. The snapshot must hold a float model
/// and data. `partial` is told of the units so far, on the caller's thread. Issues: it has no recipe, and what
/// measureSensitivity reports.
Result<Sensitivity> sensitivityOf(const Snapshot& snapshot, UnitKind by, const std::vector<std::string>& only,
    const ProgressFn& progress, const CancelToken& cancel, bool exclusions = true,
    const std::function<void(const Sensitivity&)>& partial = {});

} // namespace qs
