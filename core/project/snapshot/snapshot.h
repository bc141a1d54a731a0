// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/lockstep/compare_options.h"
#include "core/analysis/rows/parameter_difference.h"
#include "core/data/data_source.h"
#include "core/engine/plan/plan.h"
#include "core/engine/run/activation_cache.h"
#include "core/project/quantize/quantization.h"
#include "core/qdq/quant_view.h"

#include <memory>
#include <optional>
#include <string>

namespace qs {

class PairMemory;
struct Measured;

/// A second quantized model beside the first: a file, or what a recipe makes of the float model.
struct OtherQuantized {
    std::string path; ///< "" = by the recipe
    std::optional<Recipe> recipe;
    bool given() const { return !path.empty() || recipe; }
    bool operator==(const OtherQuantized&) const = default;
};

/// What the user opened.
struct Inputs {
    std::string floatPath; ///< empty = none yet
    std::string quantPath;
    std::optional<Recipe> recipe; ///< without quantPath: the quantized model is made of the float one
    std::string rangesPath; ///< with a recipe: ranges to take in place of calibrating
    std::string calibrationCache; ///< with a recipe: file that keeps what calibration found; empty: none
    DataRequest data; ///< empty spec = none yet
    DataRequest calibration; ///< with a recipe: samples to find ranges with; empty spec: those of `data`
    std::string
        classNamesPath; ///< file with what the classes are called; empty: as the model's metadata or the data say
    std::string mapPath; ///< manual pairs, JSON {"pairs":[{"float":"","quantized":""}]}
    ManualLinks links; ///< manual pairs that are in no file
    OtherQuantized other; ///< to be compared with the first
    std::vector<std::pair<std::string, std::string>> carry; ///< OUTPUT=INPUT, state from one sample to the next
    bool compare = true; ///< false: models and data are only made ready
    bool run = true; ///< false: values are paired, but neither model is run
    std::optional<Shard> shard; ///< run this part of the samples alone, and keep its sums
    bool nodeAlone = false; ///< --node-alone
    bool histograms = true; ///< false: rows without histograms, which cost as much as all other numbers
    ArithmeticProfile profile = ArithmeticProfile::Simulated; ///< of the quantized model
    size_t threads = 0; ///< 0 = all cores
    uint64_t memoryLimit = 0; ///< bytes, 0 = 80 % of RAM
    uint64_t activationCache = 0; ///< bytes of it for values that the next runs may need again
};

/// A model that is ready to run.
struct LoadedModel {
    std::shared_ptr<const Model> model;
    std::shared_ptr<const Plan> plan;
    std::shared_ptr<const QuantView> quant;
    std::shared_ptr<const GraphDraft> draft; ///< of the float model, which edits of a recipe ask; of others null
    const Graph& graph() const { return model->graph; }
};

struct Timing {
    double loadMs = 0, matchMs = 0, runMs = 0, reportMs = 0;
};

/// What later runs may take from earlier ones; shared by the snapshots that follow each other.
struct EngineCaches {
    std::shared_ptr<LoweringCache> lowered;
    std::shared_ptr<ActivationCache> activations; ///< null without a budget
    std::shared_ptr<PairMemory> pairs; ///< null without a budget for activations
    std::shared_ptr<const Quantization> quantization; ///< the last one of this float model, from these samples
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
    std::optional<LoadedModel> floatModel;
    std::optional<LoadedModel> quantModel;
    std::shared_ptr<const Quantization> quantization; ///< where the quantized model was made of a recipe
    std::shared_ptr<const ClassNames> classNames = std::make_shared<const ClassNames>(); ///< never null
    std::shared_ptr<const DataSource> data, calibrationData; ///< the second: null where ranges are found with the first
    std::optional<Alignment> alignment;
    std::optional<Comparison> comparison;
    std::shared_ptr<const OtherComparison> other; ///< null without Inputs::other
    std::shared_ptr<const Measured> measured; ///< with Inputs::shard
    EngineCaches caches;
    Timing timing;
    std::vector<std::string> warnings;
};
using SnapshotPtr = std::shared_ptr<const Snapshot>;

} // namespace qs
