// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/pairs/compare_pair.h"
#include "core/data/data_source.h"
#include "core/data/saved_values.h"

#include <memory>

namespace qs {

/// The steps of a ladder: each is compared with the one before it.
enum class LadderStep {
    Float, ///< the float file against what the framework computed
    Simulated, ///< the quantized file as written against the float file
    Integer, ///< fused integer kernels against the file as written
    Device, ///< what a device computed against the integer kernels
};

/// What is climbed.
struct LadderRequest {
    ComparePair pair; ///< `quantPlan` of the simulated profile
    std::shared_ptr<const Plan> integerPlan;
    const DataSource* data = nullptr;
    const SavedValues* framework = nullptr; ///< values by names of the float file; null = none
    const SavedValues* device = nullptr; ///< values by names of the quantized file, as reals or codes; null = none
};

} // namespace qs
