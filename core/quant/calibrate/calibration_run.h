// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/data_source.h"
#include "core/engine/plan/plan.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace qs {

/// A float model, what to look at, and what to run it on.
struct CalibrationRun {
    std::shared_ptr<const Plan> plan;
    std::vector<std::string> tensors; ///< float32 or float16 values of the model
    std::shared_ptr<const DataSource> data;
    std::vector<std::pair<std::string, std::string>> carry; ///< OUTPUT, INPUT: state from one sample to the next
    size_t threads = 1;
    uint64_t memoryLimit = 0; ///< bytes; 0 = none
    bool inOrder = false; ///< one sample after the other, so that what is seen of it may be added up as it comes
    uint64_t keepBytes = uint64_t(64) << 20; ///< activations are kept for the second pass when all of them fit
};

} // namespace qs
