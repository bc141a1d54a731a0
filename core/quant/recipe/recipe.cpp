// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/recipe/recipe.h"

#include <array>
#include <utility>

namespace qs {

namespace {

constexpr std::array<std::pair<RecipeFormat, std::string_view>, 4> kFormats { { { RecipeFormat::Qdq, "qdq" },
    { RecipeFormat::QOperator, "qoperator" }, { RecipeFormat::Dynamic, "dynamic" },
    { RecipeFormat::WeightOnly, "weight-only" } } };

constexpr std::array<std::pair<WeightOnlyAlgorithm, std::string_view>, 5> kAlgorithms {
    { { WeightOnlyAlgorithm::Default, "default" }, { WeightOnlyAlgorithm::RoundToNearest, "rtn" },
        { WeightOnlyAlgorithm::Hqq, "hqq" }, { WeightOnlyAlgorithm::Gptq, "gptq" },
        { WeightOnlyAlgorithm::KQuant, "k-quant" } }
};

constexpr std::array<std::pair<std::string_view, bool GraphPreparation::*>, 7> kPasses {
    { { "fold_constants", &GraphPreparation::foldConstants }, { "remove_unused", &GraphPreparation::removeUnused },
        { "fold_batch_norm", &GraphPreparation::foldBatchNorm },
        { "fuse_layer_norm", &GraphPreparation::fuseLayerNorm }, { "fuse_gelu", &GraphPreparation::fuseGelu },
        { "keep_attention", &GraphPreparation::keepAttention }, { "infer_shapes", &GraphPreparation::inferShapes } }
};

template <class Table, class T> std::string_view nameIn(const Table& table, T value)
{
    for (const auto& [known, name] : table)
        if (known == value)
            return name;
    return table.front().second;
}

template <class Table>
auto valueIn(const Table& table, std::string_view name) -> std::optional<typename Table::value_type::first_type>
{
    for (const auto& [value, known] : table)
        if (known == name)
            return value;
    return std::nullopt;
}

} // namespace

std::string_view recipeFormatName(RecipeFormat format) { return nameIn(kFormats, format); }
std::optional<RecipeFormat> recipeFormatOf(std::string_view name) { return valueIn(kFormats, name); }

std::string_view weightOnlyAlgorithmName(WeightOnlyAlgorithm algorithm) { return nameIn(kAlgorithms, algorithm); }
std::optional<WeightOnlyAlgorithm> weightOnlyAlgorithmOf(std::string_view name) { return valueIn(kAlgorithms, name); }

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
