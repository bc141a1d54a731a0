// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/recipe/recipe_options.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace qs {

namespace {

/// Those that `placeOf` gives a place, in that order; then those with none (0). Negative ones are left out.
template <class PlaceOf> std::vector<const RecipeOption*> ordered(PlaceOf placeOf)
{
    std::vector<const RecipeOption*> list;
    for (const RecipeOption& option : recipeOptions())
        if (placeOf(option) >= 0)
            list.push_back(&option);
    std::ranges::stable_sort(list, {}, [&](const RecipeOption* option) {
        const int place = placeOf(*option);
        return place > 0 ? place : std::numeric_limits<int>::max();
    });
    return list;
}

std::string wrongNumber(std::span<const RecipeOption> options, const Recipe& recipe)
{
    for (const RecipeOption& option : options)
        if (option.limits && !within(*option.limits, option.value.get(recipe)))
            return std::string(option.path) + " " + limitsText(*option.limits);
    return {};
}

/// Of one tensor, or of one of its channels, whose ends are called by `path`.
std::string wrongEnds(const std::string& path, const QuantOverride& part)
{
    const auto isFloat32 = [](const std::optional<double>& end) {
        return !end || std::abs(*end) <= double(std::numeric_limits<float>::max()); // not NaN either
    };
    for (const auto& [key, end] : { std::pair(".lowest", part.lowest), std::pair(".highest", part.highest) })
        if (!isFloat32(end))
            return path + key + " must be a number of float32";
    if (part.lowest && part.highest && *part.lowest >= *part.highest)
        return path + ".lowest must be below " + path + ".highest";
    return {};
}

std::string wrongEnds(const std::string& name, const TensorOverride& tensor)
{
    const std::string path = "tensors." + name;
    std::string wrong;
    for (size_t i = 0; wrong.empty() && i < tensor.parts.size(); ++i)
        wrong = wrongEnds(tensor.parts.size() > 1 ? path + ".channels." + std::to_string(i) : path, tensor.parts[i]);
    return wrong.empty() && tensor.convert ? wrongEnds(path + ".convert", tensor.convert->to) : wrong;
}

std::string wrongBlocks(const WeightOnlyOptions& w)
{
    if (w.blockSize < 1 || (!w.dequantizeForm && (w.blockSize < 16 || (w.blockSize & (w.blockSize - 1)) != 0)))
        return "weight_only.block_size must be a power of two from 16 on";
    for (const auto& [name, ratio] : w.clipRatios)
        if (!(ratio > 0 && ratio <= 1))
            return "weight_only.clip_ratios." + name + " must lie between 0 and 1";
    return {};
}

} // namespace

bool within(Limits limits, const RecipeValue& value)
{
    double number = limits.least;
    if (const auto* whole = std::get_if<int64_t>(&value))
        number = static_cast<double>(*whole);
    else if (const auto* real = std::get_if<double>(&value))
        number = *real;
    return number >= limits.least && number <= limits.most && std::isfinite(number);
}

std::string limitsText(Limits limits)
{
    const auto text = [](double limit) { return std::to_string(static_cast<int64_t>(limit)); };
    if (limits.least > 0 && limits.least < 1)
        return "must be above 0 and at most " + text(limits.most);
    if (std::isfinite(limits.most))
        return "must lie between " + text(limits.least) + " and " + text(limits.most);
    return limits.least == 0 ? "must not be negative" : "must be at least " + text(limits.least);
}

RecipeValue valueOf(const RecipeChoice& choice)
{
    return std::visit(
        []<class T>(const T& value) -> RecipeValue {
            if constexpr (std::is_same_v<T, std::string_view>)
                return std::string(value);
            else
                return value;
        },
        choice.value);
}

std::span<const RecipeOption> recipeOptions(std::string_view section)
{
    const auto inside = [&](const RecipeOption& option) { return option.path.starts_with(section); };
    const auto all = recipeOptions();
    const auto first = std::ranges::find_if(all, inside);
    return { first, std::find_if_not(first, all.end(), inside) };
}

std::vector<const RecipeOption*> recipeFlags()
{
    return ordered([](const RecipeOption& option) { return option.flag.name.empty() ? -1 : option.flag.place; });
}

std::vector<const RecipeOption*> recipeLines()
{
    return ordered([](const RecipeOption& option) { return option.line.title.empty() ? -1 : option.line.place; });
}

std::span<const RecipeOption> passOptions() { return recipeOptions("preparation.").subspan(1); } // behind "enabled"

std::vector<std::string> skippedPasses(const Recipe& recipe)
{
    std::vector<std::string> skipped;
    for (const RecipeOption& option : passOptions())
        if (option.value.get(recipe) == RecipeValue(false))
            skipped.emplace_back(option.key());
    return skipped;
}

std::string wrongNumbers(const Recipe& recipe)
{
    std::string wrong = wrongNumber(recipeOptions(), recipe);
    for (auto it = recipe.tensors.begin(); wrong.empty() && it != recipe.tensors.end(); ++it) {
        wrong = wrongEnds(it->first, it->second);
        if (!it->second.calibrator || !wrong.empty())
            continue;
        Recipe alone;
        alone.calibration = *it->second.calibrator;
        if (wrong = wrongNumber(recipeOptions("calibration."), alone); !wrong.empty())
            wrong = "tensors." + it->first + ".calibrator" + wrong.substr(wrong.find('.'));
    }
    return wrong.empty() ? wrongBlocks(recipe.weightOnly) : wrong;
}

} // namespace qs
