// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/options/recipe_options.h"

#include "core/project/search/weight_prices.h"

#include <optional>
#include <string>

/// `sensitivity --price bytes`: which weights of a model deserve more bits.
namespace qs::cli {

/// As given.
struct PriceOptions {
    std::string price;
    std::optional<int64_t> steps, maxBytes;
    std::optional<double> seconds, maxKl, minSqnrDb;
    std::string saveRecipe, out, builderOptions;
    /// Results of a chosen point.
    bool writes() const { return !saveRecipe.empty() || !out.empty() || !builderOptions.empty(); }
    bool any() const;
};

void addPriceOptions(CLI::App& app, PriceOptions& options);
/// What of them is out of range or does not go together, in a word that is not known.
Status checkPriceOptions(const PriceOptions& options);
/// The format that weights in blocks have, where nothing says another.
RecipeOptions withPricedFormat(RecipeOptions recipe);
/// All that is written, beside what the float model has.
void addFilesOf(FileRoles& files, const PriceOptions& options, const std::string& floatPath);
PriceRequest priceRequest(const PriceOptions& options, const std::vector<std::string>& units, bool unitsOnly);

/// Measures, prints and writes. `snapshot`: the float model, its samples, and what the recipe makes of it.
Status runPrice(const PriceOptions& options, const PriceRequest& request, const SnapshotPtr& snapshot,
    const ChosenRecipe& recipe, FileRoles files, const Context& context);

} // namespace qs::cli
