// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/lab/ladder_request.h"
#include "core/analysis/rows/similarity.h"
#include "core/base/result.h"
#include "core/base/work/work_context.h"

#include <optional>
#include <string>
#include <vector>

/// From the framework that a model came from to the device that runs it, step by step: where does agreement end?
namespace qs {

std::string_view ladderStepName(LadderStep step); ///< "framework -> float"

/// One value on one step.
struct LadderRow {
    LadderStep step = LadderStep::Float;
    std::string name; ///< of the value on the later side
    Similarity similarity;
    Number relative; ///< |x - y| / |x|
    Number beyondStep; ///< share of elements more than one quantization step apart, where there is a step
    Number top1Agreement; ///< of outputs with several elements
    Number accuracyBefore, accuracyAfter; ///< fractions, of the first output where the samples have labels
    bool agrees = false;
    std::string rule; ///< what was asked for: "relative error up to 1e-05"
};

struct Ladder {
    std::vector<LadderRow> rows; ///< by step, then in the models' order
    std::optional<size_t> firstApart; ///< where agreement ends
    std::vector<std::string> unknown; ///< saved values that neither file has
};

Result<Ladder> climbLadder(const LadderRequest& request, const WorkContext& work = {});

} // namespace qs
