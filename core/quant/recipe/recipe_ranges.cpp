// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/recipe/recipe_ranges.h"

#include "core/base/name_pattern.h"
#include "core/quant/calibrate/calibrators.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace qs {

namespace {

/// Calibrators of single tensors.
std::vector<const CalibratorOptions*> linkedCalibrators(const Recipe& recipe)
{
    std::vector<const CalibratorOptions*> list;
    for (const auto& [name, override] : recipe.tensors)
        if (override.calibrator)
            list.push_back(&*override.calibrator);
    return list;
}

DType typeOf(const TensorOverride& override, const Recipe& recipe)
{
    return override.parts.empty() ? recipe.activationType : override.parts.front().type.value_or(recipe.activationType);
}

} // namespace

Result<Recipe> withTensorPatterns(Recipe recipe, const GraphDraft& model)
{
    if (std::ranges::none_of(recipe.tensors, [&](const auto& entry) { return isNamePattern(entry.first); }))
        return recipe;
    std::vector<std::string> activations = model.inputs(), all = model.constants();
    for (const DraftNode& node : model.nodes)
        std::ranges::copy_if(
            node.outputs, std::back_inserter(activations), [](const auto& name) { return !name.empty(); });
    std::erase_if(activations, [&](const std::string& name) { return model.constant(name) != nullptr; });
    all.insert(all.end(), activations.begin(), activations.end());
    const auto given = std::exchange(recipe.tensors, {});
    for (const auto& [name, override] : given)
        if (!isNamePattern(name) || std::ranges::find(all, name) != all.end())
            recipe.tensors.emplace(name, override);
    for (const auto& [name, override] : given) {
        if (recipe.tensors.contains(name))
            continue;
        const std::vector<std::string>& names = override.calibrator ? activations : all;
        QS_TRY(const auto found, matchNames(name, names));
        for (const size_t i : found)
            recipe.tensors.emplace(names[i], override);
    }
    return recipe;
}

CollectOptions neededBy(const Recipe& recipe)
{
    CollectOptions needed = neededBy(recipe.calibration);
    for (const CalibratorOptions* calibrator : linkedCalibrators(recipe))
        needed = both(needed, neededBy(*calibrator));
    return needed;
}

bool covers(const CalibrationData& data, const Recipe& recipe)
{
    return data.covers(recipe.calibration)
        && std::ranges::all_of(linkedCalibrators(recipe), [&](const auto* one) { return data.covers(*one); });
}

Result<Ranges> rangesFor(const CalibrationData& data, const Recipe& recipe)
{
    QS_TRY(Ranges ranges, rangesFor(data, forCodes(recipe.calibration, recipe.activationType)));
    for (const auto& [name, override] : recipe.tensors) {
        const auto it = ranges.tensors.find(name);
        const DType type = typeOf(override, recipe);
        if (it != ranges.tensors.end() && (override.calibrator || type != recipe.activationType)) {
            QS_TRY(it->second, rangeBy(name, data, forCodes(override.calibrator.value_or(recipe.calibration), type)));
        }
    }
    return ranges;
}

Result<TensorRange> rangeBy(const std::string& tensor, const CalibrationData& seen, const CalibratorOptions& calibrator)
{
    const auto it = std::ranges::find(seen.tensors, tensor, &TensorStatistics::name);
    if (it == seen.tensors.end() || !seen.covers(calibrator))
        return Issue { IssueKind::BadInput, "was not looked at as this calibrator needs it", {}, {}, tensor,
            "calibrate with it once" };
    QS_TRY(const Ranges ranges, rangesFor(CalibrationData { seen.collected, seen.feeds, { *it } }, calibrator));
    return ranges.tensors.begin()->second;
}

} // namespace qs
