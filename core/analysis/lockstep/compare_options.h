// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/profile.h"
#include "core/engine/run/activation_cache.h"
#include "core/engine/run/carry.h"

#include <memory>

namespace qs {

class PairMemory;

/// A part of the samples that is run for itself: number `index`, from 1, of `count` parts of about equal size.
struct Shard {
    size_t index = 1, count = 1;
    bool whole() const { return count == 1; }
    bool operator==(const Shard&) const = default;
};

struct CompareOptions {
    ArithmeticProfile profile = ArithmeticProfile::Simulated; ///< of quantPlan
    bool nodeAlone = false; ///< also run each quantized node alone on the float model's values
    bool histograms = true; ///< also those of activations and weights
    CarryNames carry; ///< samples then run in order
    std::shared_ptr<ActivationCache> activations; ///< values of earlier runs; null = none are kept
    std::shared_ptr<PairMemory> pairs; ///< what earlier runs over these samples measured; null = none is kept
    Shard shard = {};
    bool prove = false; ///< also show that the quantized file, without its quantizers, is the float model
};

} // namespace qs
