// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/base/work/cancel.h"
#include "core/base/work/progress.h"
#include "core/project/files/runs.h"

#include <string>
#include <utility>
#include <vector>

namespace qs {

/// A recipe and what it is worth on the samples of a snapshot.
struct FoundRecipe {
    std::string name; ///< "entropy, per channel"
    Recipe recipe;
    RunNumbers numbers;
};

/// `from` with each calibrator, granularity and range of weights, with names; every tensor's range is calibrated.
std::vector<std::pair<std::string, Recipe>> searchCandidates(const Recipe& from, const GraphDraft& floatModel);

/// Runs candidates, which share one calibration, until the time is up or all are measured: at least one is. Highest
/// accuracy first, then highest output SQNR. The snapshot must hold a float model and data. Issues: what quantizing and
/// running report.
Result<std::vector<FoundRecipe>> searchRecipes(const SnapshotPtr& start, const Recipe& from, double seconds,
    const ProgressFn& progress, const CancelToken& cancel);

} // namespace qs
