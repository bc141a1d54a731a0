// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/lockstep/compare_options.h"
#include "core/analysis/measure/measured.h"
#include "core/base/result.h"
#include "core/base/work/work_context.h"
#include "core/data/data_source.h"

#include <functional>
#include <memory>

namespace qs {

using MeasuredFn = std::function<void(Measured&)>;

/// Runs both models in lockstep over the samples of the shard, compares the paired tensors at once and drops them.
/// Nothing but about 200 bytes a pair and sample is kept. `partial` (may be empty) gets what there is about twice a
/// second, from a worker thread. The memory limit is that beside the cache.
Result<std::shared_ptr<Measured>> measureModels(const ComparePair& pair, const DataSource& data,
    const CompareOptions& options, const WorkContext& work, const MeasuredFn& partial);

} // namespace qs
