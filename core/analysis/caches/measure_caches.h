// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/caches/cache_report.h"
#include "core/base/work/work_context.h"
#include "core/data/data_source.h"
#include "core/engine/run/carry.h"

#include <memory>

namespace qs {

struct CacheOptions {
    ScaleChoice choice = ScaleChoice::LeastError;
    bool anyPosition = false; ///< keys' thresholds: the largest length of what rotary embedding turns
    CarryNames carry; ///< caches whose names do not tell
};

/// Reads the prompts as they are given and looks at what the model remembers of them. Scales are found in one pass over
/// the prompts, or in two for the least error, the errors in one more. Memory does not grow with the prompts, but with
/// the longest of them. Issues: no keys and values are found, they are codes, what running reports.
Result<CacheReport> measureCaches(const std::shared_ptr<const Plan>& plan, const DataSource& data,
    const CacheOptions& options, const WorkContext& work);

/// Of one head of the tensor that is row `row` of the report, or of all heads behind each other.
Result<CacheMap> cacheMap(const std::shared_ptr<const Plan>& plan, const DataSource& data, const CacheOptions& options,
    size_t row, std::optional<size_t> head, const WorkContext& work);

/// Whether the model has keys and values to look at.
bool hasCaches(const Plan& plan, const CarryNames& carry);

} // namespace qs
