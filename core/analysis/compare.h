// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/comparison.h"
#include "core/base/cancel.h"
#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/data/data_source.h"
#include "core/engine/activation_cache.h"
#include "core/engine/plan.h"
#include "core/qdq/quant_view.h"

#include <functional>
#include <memory>

namespace qs {

/// The two files of a comparison and how they correspond.
struct ComparePair {
    std::shared_ptr<const Plan> floatPlan;
    std::shared_ptr<const Plan> quantPlan; ///< what is measured
    std::shared_ptr<const QuantView> quantView;
    std::shared_ptr<const Alignment> alignment;
    std::shared_ptr<const Plan> writtenPlan = nullptr; ///< the file as written, when quantPlan is of an integer profile
};

struct CompareOptions {
    ArithmeticProfile profile = ArithmeticProfile::Simulated; ///< of quantPlan
    size_t threads = 1;
    bool nodeAlone = false; ///< also run each quantized node alone on the float model's values
    bool histograms = true; ///< also those of activations and weights
    std::vector<std::pair<std::string, std::string>> carry; ///< OUTPUT=INPUT by name; samples then run in order
    uint64_t memoryLimit = 0; ///< bytes; 0 = none; the cache counts
    std::shared_ptr<ActivationCache> activations; ///< values of earlier runs; null = none are kept
};

/// Runs both models in lockstep over all samples, compares the paired tensors at once and drops them. Nothing but about
/// 200 bytes a pair and sample is kept. Sums are added in sample order: equal bits for any number of threads.
/// `partial` (may be empty) gets the numbers so far about twice a second, from a worker thread.
Result<Comparison> compareModels(const ComparePair& pair, const DataSource& data, const CompareOptions& options,
    const ProgressFn& progress, const CancelToken& cancel, const std::function<void(Comparison)>& partial);

} // namespace qs
