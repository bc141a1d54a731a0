// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/recipe.h"

#include <array>
#include <utility>

namespace qs {

namespace {

constexpr std::array<std::pair<RecipeFormat, std::string_view>, 4> kFormats { { { RecipeFormat::Qdq, "qdq" },
    { RecipeFormat::QOperator, "qoperator" }, { RecipeFormat::Dynamic, "dynamic" },
    { RecipeFormat::WeightOnly, "weight-only" } } };

constexpr std::array<std::pair<WeightOnlyAlgorithm, std::string_view>, 5> kAlgorithms {
    { { WeightOnlyAlgorithm::Default, "default" }, { WeightOnlyAlgorithm::RoundToNearest, "rtn" },
        { WeightOnlyAlgorithm::HalfQuadratic, "hqq" }, { WeightOnlyAlgorithm::Gptq, "gptq" },
        { WeightOnlyAlgorithm::KQuant, "k-quant" } }
};

constexpr std::array<std::pair<std::string_view, bool GraphPreparation::*>, 6> kPasses {
    { { "fold_constants", &GraphPreparation::foldConstants }, { "remove_unused", &GraphPreparation::removeUnused },
        { "fold_batch_norm", &GraphPreparation::foldBatchNorm },
        { "fuse_layer_norm", &GraphPreparation::fuseLayerNorm }, { "fuse_gelu", &GraphPreparation::fuseGelu },
        { "infer_shapes", &GraphPreparation::inferShapes } }
};

} // namespace

std::string_view recipeFormatName(RecipeFormat format)
{
    for (const auto& [value, name] : kFormats)
        if (value == format)
            return name;
    return "qdq";
}

std::optional<RecipeFormat> recipeFormatOf(std::string_view name)
{
    for (const auto& [value, text] : kFormats)
        if (text == name)
            return value;
    return std::nullopt;
}

std::string_view weightOnlyAlgorithmName(WeightOnlyAlgorithm algorithm)
{
    for (const auto& [value, name] : kAlgorithms)
        if (value == algorithm)
            return name;
    return "default";
}

std::optional<WeightOnlyAlgorithm> weightOnlyAlgorithmOf(std::string_view name)
{
    for (const auto& [value, text] : kAlgorithms)
        if (text == name)
            return value;
    return std::nullopt;
}

bool* preparationSwitch(GraphPreparation& preparation, std::string_view pass)
{
    for (const auto& [name, field] : kPasses)
        if (name == pass)
            return &(preparation.*field);
    return nullptr;
}

std::vector<std::string> skippedPasses(GraphPreparation preparation)
{
    std::vector<std::string> skipped;
    for (const auto& [name, field] : kPasses)
        if (!(preparation.*field))
            skipped.emplace_back(name);
    return skipped;
}

Recipe quantscopeRecipe()
{
    Recipe recipe;
    recipe.preparation.enabled = true;
    recipe.keepExtremeConstants = true;
    recipe.weightOnly.gptq.spreadErrors = true;
    return recipe;
}

} // namespace qs
