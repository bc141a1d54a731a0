// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/pairs/compare_pair.h"
#include "core/analysis/rows/similarity.h"
#include "core/base/result.h"
#include "core/base/work/cancel.h"
#include "core/base/work/progress.h"
#include "core/data/data_source.h"
#include "core/data/saved_values.h"

#include <optional>
#include <string>
#include <vector>

/// From the framework that a model came from to the device that runs it, step by step: where does agreement end?
namespace qs {

/// Each is compared with the one before it.
enum class LadderStep {
    Float, ///< the float file against what the framework computed
    Simulated, ///< the quantized file as written against the float file
    Integer, ///< fused integer kernels against the file as written
    Device, ///< what a device computed against the integer kernels
};
std::string_view ladderStepName(LadderStep step); ///< "framework -> float"

/// One value on one step.
struct LadderRow {
    LadderStep step = LadderStep::Float;
    std::string name; ///< of the value on the later side
    Similarity similarity;
    Number relative; ///< |x - y| / |x|
    Number beyondStep; ///< share of elements more than one quantization step apart, where there is a step
    Number top1Agreement; ///< of outputs with several elements
    bool agrees = false;
    std::string rule; ///< what was asked for: "relative error up to 1e-05"
};

struct Ladder {
    std::vector<LadderRow> rows; ///< by step, then in the models' order
    std::optional<size_t> firstApart; ///< where agreement ends
    std::vector<std::string> unknown; ///< saved values that neither file has
};

struct LadderRequest {
    ComparePair pair; ///< `quantPlan` of the simulated profile
    std::shared_ptr<const Plan> integerPlan;
    const DataSource* data = nullptr;
    const SavedValues* framework = nullptr; ///< values by names of the float file; null = none
    const SavedValues* device = nullptr; ///< values by names of the quantized file, as reals or codes; null = none
    size_t threads = 1;
};
Result<Ladder> climbLadder(const LadderRequest& request, const ProgressFn& progress, const CancelToken& cancel);

} // namespace qs
