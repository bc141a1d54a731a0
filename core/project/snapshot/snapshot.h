// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/rows/comparison.h"
#include "core/analysis/rows/parameter_difference.h"
#include "core/engine/run/activation_cache.h"
#include "core/project/snapshot/step_keys.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace qs {

class PairMemory;
struct Measured;

struct Timing {
    double loadMs = 0, matchMs = 0, runMs = 0, reportMs = 0;
};

/// What later runs may take from earlier ones; shared by the snapshots that follow each other.
struct EngineCaches {
    std::shared_ptr<LoweringCache> lowered;
    std::shared_ptr<ActivationCache> activations; ///< null without a budget
    std::shared_ptr<PairMemory> pairs; ///< null without a budget for activations
    std::optional<SampledModel> pairsOf;
    std::shared_ptr<const Quantization> quantization; ///< the last one of `quantizationOf`
    std::optional<SampledModel> quantizationOf;
};

struct Snapshot;

/// The second quantized model over the same samples.
struct OtherComparison {
    std::shared_ptr<const Snapshot> snapshot; ///< with a comparison
    std::vector<ParameterDifference> differences; ///< of it (b) from the first (a)
};

/// One immutable state of the work; views keep a pointer and swap to the next. Parts that do not exist yet are empty.
struct Snapshot {
    Inputs inputs;
    std::optional<LoadedModel> floatFile, quantFile; ///< as written; the second may be made by the recipe
    /// As compared: with the nodes of bodies in the place of If, Loop and Scan where that can be.
    std::optional<LoadedModel> floatModel;
    std::optional<LoadedModel> quantModel;
    std::shared_ptr<const Quantization> quantization; ///< where the quantized model was made of a recipe
    std::shared_ptr<const ClassNames> classNames = std::make_shared<const ClassNames>(); ///< never null
    std::shared_ptr<const DataSource> data, calibrationData; ///< the second: null where ranges are found with the first
    std::shared_ptr<const Alignment> alignment;
    std::optional<Comparison> comparison;
    std::optional<bool> recipeMakes; ///< recipeMakesFile; nothing: not asked yet, or the recipe is known
    std::shared_ptr<const OtherComparison> other; ///< null without Asked::other
    std::shared_ptr<const Measured> measured; ///< with Asked::shard
    StepKeys keys; ///< what the parts above were made of
    EngineCaches caches;
    Timing timing;
    std::vector<std::string> warnings;
};
using SnapshotPtr = std::shared_ptr<const Snapshot>;

} // namespace qs
