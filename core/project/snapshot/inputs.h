// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/lockstep/compare_options.h"
#include "core/analysis/tasks/output_task.h"
#include "core/base/work/work_context.h"
#include "core/data/data_source.h"
#include "core/engine/run/carry.h"
#include "core/match/alignment.h"
#include "core/quant/recipe/recipe.h"

#include <optional>
#include <string>

namespace qs {

/// A second quantized model beside the first: a file, or what a recipe makes of the float model.
struct OtherQuantized {
    std::string path; ///< "" = by the recipe
    std::optional<Recipe> recipe;
    bool given() const { return !path.empty() || recipe; }
    bool operator==(const OtherQuantized&) const = default;
};

/// What somebody wants to know. All numbers follow from this and from what the files hold.
struct Asked {
    std::string floatPath; ///< empty = none yet
    std::string quantPath;
    std::optional<Recipe> recipe; ///< without quantPath: the quantized model is made of the float one
    std::string rangesPath; ///< with a recipe: ranges to take in place of calibrating
    std::string calibrationCache; ///< with a recipe: file that keeps what calibration found; empty: none
    DataRequest data; ///< empty spec = none yet
    DataRequest calibration; ///< with a recipe: samples to find ranges with; empty spec: those of `data`
    std::string classNamesPath; ///< what the classes are called; empty: as the model's metadata or the data say
    std::string mapPath; ///< manual pairs, JSON {"pairs":[{"float":"","quantized":""}]}
    ManualLinks links; ///< manual pairs that are in no file
    OtherQuantized other; ///< to be compared with the first
    CarryNames carry;
    bool compare = true; ///< false: models and data are only made ready
    bool run = true; ///< false: values are paired, but neither model is run
    std::optional<Shard> shard; ///< run this part of the samples alone, and keep its sums
    bool nodeAlone = false; ///< --node-alone
    TaskChoices tasks {}; ///< what outputs are, where the user says it, and thresholds of boxes
    bool histograms = true; ///< false: rows without histograms, which cost as much as all other numbers
    ArithmeticProfile profile = ArithmeticProfile::Simulated; ///< of the quantized model
    bool operator==(const Asked&) const = default;
};

/// How it is worked out. No number depends on it.
struct RunSettings {
    size_t threads = 0; ///< 0 = all cores
    uint64_t memoryLimit = 0; ///< bytes, 0 = 80 % of RAM
    uint64_t activationCache = 0; ///< bytes of it for values that the next runs may need again
    bool operator==(const RunSettings&) const = default;
};

/// With the threads and the memory of the settings.
WorkContext workFor(const RunSettings& settings, const ProgressFn& progress, const CancelToken& cancel);

/// All that a snapshot is built from.
struct Inputs : Asked, RunSettings {
    std::vector<std::string> recipeWords; ///< the options that `recipe` was given by, each as a shell takes it; empty:
                                          ///< by no command
    const Asked& asked() const { return *this; }
    const RunSettings& settings() const { return *this; }
};

/// The same with the quantized model that a recipe makes of the float one, without the pairs that were given by hand,
/// which are those of a quantized file.
Inputs byRecipe(Inputs inputs, const Recipe& recipe);

} // namespace qs
