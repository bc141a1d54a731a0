// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/rows/comparison.h"
#include "core/base/result.h"
#include "core/base/work/cancel.h"
#include "core/base/work/progress.h"
#include "core/data/data_source.h"
#include "core/engine/plan/plan.h"
#include "core/engine/run/activation_cache.h"
#include "core/qdq/quant_view.h"

#include <functional>
#include <memory>

namespace qs {

class PairMemory;

/// The two files of a comparison and how they correspond.
struct ComparePair {
    std::shared_ptr<const Plan> floatPlan;
    std::shared_ptr<const Plan> quantPlan; ///< what is measured
    std::shared_ptr<const QuantView> quantView;
    std::shared_ptr<const Alignment> alignment;
    std::shared_ptr<const Plan> writtenPlan = nullptr; ///< the file as written, when quantPlan is of an integer profile
};

/// A part of the samples that is run for itself: number `index`, from 1, of `count` parts of about equal size.
struct Shard {
    size_t index = 1, count = 1;
    bool whole() const { return count == 1; }
    bool operator==(const Shard&) const = default;
};

struct CompareOptions {
    ArithmeticProfile profile = ArithmeticProfile::Simulated; ///< of quantPlan
    size_t threads = 1;
    bool nodeAlone = false; ///< also run each quantized node alone on the float model's values
    bool histograms = true; ///< also those of activations and weights
    std::vector<std::pair<std::string, std::string>> carry; ///< OUTPUT=INPUT by name; samples then run in order
    uint64_t memoryLimit = 0; ///< bytes; 0 = none; the cache counts
    std::shared_ptr<ActivationCache> activations; ///< values of earlier runs; null = none are kept
    std::shared_ptr<PairMemory> pairs; ///< what earlier runs over these samples measured; null = none is kept
    Shard shard = {};
    bool prove = false; ///< also show that the quantized file, without its quantizers, is the float model
};

/// Sums by pair and sample, all that a comparison follows from; see measured.h.
struct Measured;
using MeasuredFn = std::function<void(Measured&)>;

/// Runs both models in lockstep over the samples of the shard, compares the paired tensors at once and drops them.
/// Nothing but about 200 bytes a pair and sample is kept. `partial` (may be empty) gets what there is about twice a
/// second, from a worker thread.
Result<std::shared_ptr<Measured>> measureModels(const ComparePair& pair, const DataSource& data,
    const CompareOptions& options, const ProgressFn& progress, const CancelToken& cancel, const MeasuredFn& partial);
/// Needs no data. Rows are missing (left empty) where the scope was cancelled on the way.
std::vector<WeightRow> compareWeights(
    const ComparePair& pair, bool histograms, size_t threads, PairMemory* memory = nullptr);
/// The numbers that follow, of the samples that are done. Sums are added in sample order: equal bits for any number of
/// threads and shards. `labels`: of all samples, or empty.
Comparison summarize(const ComparePair& pair, ArithmeticProfile profile, Measured& measured,
    const std::vector<int64_t>& labels, std::vector<WeightRow> weights);

/// All of it in one step.
Result<Comparison> compareModels(const ComparePair& pair, const DataSource& data, const CompareOptions& options,
    const ProgressFn& progress, const CancelToken& cancel, const std::function<void(Comparison)>& partial);

} // namespace qs
