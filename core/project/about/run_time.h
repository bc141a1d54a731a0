// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/base/work/work_context.h"
#include "core/data/data_source.h"
#include "core/engine/plan/plan.h"
#include "core/engine/run/carry.h"

#include <span>
#include <vector>

namespace qs {

/// Time of one run of a model over one feed.
struct RunTime {
    double medianMs = 0, minMs = 0, maxMs = 0;
    size_t runs = 0, threads = 0;
};

/// Each of the plans is run `runs` times, turn by turn, so that whatever else the machine does meets all of them alike;
/// rounds before these are not counted. Data follow the inputs of the first plan and are used in turn.
Result<std::vector<RunTime>> runTimes(std::span<const std::shared_ptr<const Plan>> plans, const DataSource& data,
    const CarryNames& carry, size_t runs, const WorkContext& work = {});

} // namespace qs
