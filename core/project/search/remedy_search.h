// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/search/remedy_trials.h"

#include <vector>

namespace qs {

/// Where causes hide each other no single remedy gains much: tries them together (all ranges, all of them, then more
/// and more beside the best), all activations calibrated anew, a scale a channel for all weights, weights equalized,
/// single nodes in float. `single`: changes of the findings, most telling first, all measured. Tries at most `most`
/// more. The smallest choice that comes within a decibel of the best one; nothing where none gains noticeably more than
/// a single remedy. Issue: cancelled.
Result<std::vector<Remedy>> searchTogether(
    RemedyTrials& trials, const Comparison& comparison, const std::vector<std::vector<Remedy>>& single, size_t most);

} // namespace qs
