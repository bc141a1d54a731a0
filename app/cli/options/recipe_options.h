// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/options/options.h"
#include "app/cli/options/recipe_flags.h"

namespace qs::cli {

/// The recipe options, as given.
struct RecipeOptions {
    std::string file; ///< --recipe
    std::string calibrationCache; ///< --calibration-cache; no part of the recipe
    std::string calibrationData; ///< --calibration-data; no part of the recipe
    std::optional<int64_t> calibrationLimit;
    bool ortDefaults = false;
    GivenFlags flags;
    std::optional<int64_t> blockSize; ///< of whichever form the recipe has
    std::vector<std::string> preparation, tensorCalibrators, tensorRanges;
    std::vector<const CLI::Option*> options; ///< all of these
    /// Any of them was given.
    bool any() const;
    /// Those that were given, as a shell takes them.
    std::vector<std::string> words() const;
};

void addRecipeOptions(CLI::App& app, RecipeOptions& options);
/// --calibration-data, for commands whose --data are those that results are judged by.
void addCalibrationData(CLI::App& app, RecipeOptions& options);

/// The recipe to start from, and the calibration cache.
void addFilesOf(FileRoles& files, const RecipeOptions& options);

struct ChosenRecipe {
    Recipe recipe;
    std::string start; ///< what it began with: a file's path, "quantscope" or "onnxruntime"
    std::vector<std::string> warnings = {}; ///< options that were given and do nothing in this recipe
};
/// The samples of --calibration-data, read as `data` says; empty without the option. Issue: beside ranges from a file.
Result<DataRequest> calibrationRequest(
    const RecipeOptions& options, const std::string& rangesPath, DataOptions data, const CommonOptions& common);
/// An Issue where a calibration cache is given beside ranges, which make it idle.
Status checkCalibrationCache(const RecipeOptions& options, const std::string& rangesPath);
/// The recipe file, ONNX Runtime's defaults or the preset quantscope (or `begin`), then each option over it.
Result<ChosenRecipe> chosenRecipe(
    const RecipeOptions& options, const std::optional<ChosenRecipe>& begin = std::nullopt);

} // namespace qs::cli
