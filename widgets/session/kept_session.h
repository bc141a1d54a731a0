// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/snapshot/snapshot.h"
#include "widgets/models/base/metric.h"
#include "widgets/models/base/place.h"
#include "widgets/session/opening.h"
#include "widgets/session/work_content.h"

#include <optional>
#include <vector>

namespace qs {

/// All that a session works on, set aside while a guest has it.
struct KeptSession {
    OpenFiles files;
    Opening work; ///< recipe, base, links, runs and steps of undo
    std::optional<WorkContent> saved;
    SnapshotPtr complete;
    std::optional<Opening> opening; ///< that was under way
    bool running = false; ///< so was a run of the recipe
    std::vector<Opening> formers;
    Place place;
    Metric metric = Metric::Accumulated;
};

} // namespace qs
