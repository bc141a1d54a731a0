// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/recipe/recipe_edit.h"

#include "core/base/name_pattern.h"
#include "core/graph/draft.h"
#include "core/quant/recipe/op_types.h"

#include <algorithm>
#include <unordered_set>

namespace qs {

namespace {

using Names = std::vector<std::string>;
using NameSet = std::unordered_set<std::string>;

bool contains(const Names& list, const std::string& text) { return std::ranges::find(list, text) != list.end(); }

Names namesOf(std::span<const RecipeNode> nodes)
{
    Names names;
    for (const RecipeNode& node : nodes)
        names.push_back(node.name);
    return names;
}

/// The patterns without what they say of `members`: one that matches any of them becomes the names of the others that
/// it matches.
Names without(const Names& options, const Names& names, const NameSet& members)
{
    Names kept;
    for (const std::string& pattern : splitPatterns(options, names)) {
        const auto found = matchNames(pattern, names);
        if (!found || std::ranges::none_of(*found, [&](size_t i) { return members.contains(names[i]); })) {
            kept.push_back(pattern);
            continue;
        }
        for (size_t i : *found)
            if (!members.contains(names[i]) && !contains(kept, names[i]))
                kept.push_back(names[i]);
    }
    return kept;
}

void setTypes(Recipe& recipe, Names types)
{
    Names sorted = types, usual = defaultOpTypes(recipe.format);
    std::ranges::sort(sorted);
    std::ranges::sort(usual);
    recipe.opTypes = sorted == usual ? Names() : std::move(types);
}

/// Scales come from the values: channels that nothing tells apart any more become one part.
void followValues(TensorOverride& override)
{
    for (QuantOverride& part : override.parts) {
        part.scale.reset();
        part.zeroPoint.reset();
        part.lowest.reset();
        part.highest.reset();
    }
    if (!override.parts.empty()
        && std::ranges::count(override.parts, override.parts.front()) == std::ssize(override.parts))
        override.parts.resize(1);
}

/// The range that a scale and zero point say, in their place.
void byRange(QuantOverride& part, DType type)
{
    const auto codes = codeRange(type);
    if (!part.scale || !part.zeroPoint || !codes)
        return;
    part.lowest = double(codes->low - *part.zeroPoint) * *part.scale;
    part.highest = double(codes->high - *part.zeroPoint) * *part.scale;
    part.scale.reset();
    part.zeroPoint.reset();
}

/// Nothing of its own about one setting; `usual` is the type of activations. An activation keeps its range.
void dropOwn(QuantOverride& part, std::string_view path, DType usual)
{
    if (path == "activation_type" || path == "symmetric_activations")
        byRange(part, part.type.value_or(usual));
    if (path == "activation_type" || path == "weight_type")
        part.type.reset();
    if (path == "symmetric_activations" || path == "symmetric_weights")
        part.symmetric.reset();
    if (path == "reduce_range")
        part.reduceRange.reset();
}

/// Channels follow the recipe where nothing else is said of the constant; an override without an axis would say that it
/// has none.
void dropAxis(TensorOverride& override, DType usual)
{
    TensorOverride bare = override;
    bare.axis.reset();
    bare.parts.resize(1);
    if (bare.parts.front().type == usual)
        bare.parts.front().type.reset();
    if (bare == TensorOverride {})
        override = std::move(bare);
}

/// A tensor's override, with at least one part.
TensorOverride& overrideOf(Recipe& recipe, const std::string& tensor)
{
    TensorOverride& override = recipe.tensors[tensor];
    if (override.parts.empty())
        override.parts.emplace_back();
    return override;
}

/// One that says nothing is none.
Recipe tidied(Recipe recipe, const std::string& tensor)
{
    const auto it = recipe.tensors.find(tensor);
    if (it != recipe.tensors.end() && it->second == TensorOverride {})
        recipe.tensors.erase(it);
    return recipe;
}

/// Scale and zero point or ends of the range as in `grid`, which has one of them or none.
void setGrid(QuantOverride& part, const QuantOverride& grid = {})
{
    part.scale = grid.scale;
    part.zeroPoint = grid.zeroPoint;
    part.lowest = grid.lowest;
    part.highest = grid.highest;
}

Recipe withGrid(Recipe recipe, const std::string& tensor, const QuantOverride& grid)
{
    TensorOverride& override = overrideOf(recipe, tensor);
    for (QuantOverride& part : override.parts)
        setGrid(part, grid);
    override.calibrator.reset();
    return recipe;
}

template <class Field, class Value>
Recipe withPart(Recipe recipe, const std::string& tensor, Field QuantOverride::*field, const Value& value)
{
    for (QuantOverride& part : overrideOf(recipe, tensor).parts)
        part.*field = value;
    return tidied(std::move(recipe), tensor);
}

} // namespace

Recipe withNodes(Recipe recipe, std::span<const RecipeNode> nodes, std::span<const size_t> members, bool quantized)
{
    const Names names = namesOf(nodes);
    const auto before = nodeStates(recipe, {}, nodes);
    NameSet moved;
    for (size_t i : members)
        if (before[i].quantized != quantized)
            moved.insert(names[i]);
    if (moved.empty())
        return recipe;
    if (!quantized) {
        for (const std::string& name : names)
            if (moved.contains(name) && !contains(recipe.exclude, name))
                recipe.exclude.push_back(name);
        return recipe;
    }
    recipe.exclude = without(recipe.exclude, names, moved);
    // A type that is quantized for these alone leaves out the others of it.
    Names types = opTypesOf(recipe);
    for (size_t i : members)
        if (const std::string type = nodes[i].chosenBy(recipe.format); !contains(types, type)) {
            types.push_back(type);
            for (size_t n = 0; n < nodes.size(); ++n)
                if (nodes[n].chosenBy(recipe.format) == type && !moved.contains(names[n])
                    && !contains(recipe.exclude, names[n]))
                    recipe.exclude.push_back(names[n]);
        }
    setTypes(recipe, std::move(types));
    const auto after = nodeStates(recipe, {}, nodes);
    for (size_t i : members)
        if (!after[i].quantized && !contains(recipe.include, names[i]))
            recipe.include.push_back(names[i]);
    return recipe;
}

Recipe withType(Recipe recipe, std::span<const RecipeNode> nodes, const std::string& opType, bool quantized)
{
    std::vector<size_t> members;
    for (size_t n = 0; n < nodes.size(); ++n)
        if (nodes[n].opType == opType)
            members.push_back(n);
    const auto asOther = [&](size_t n) { return nodes[n].chosenBy(recipe.format) != opType; };
    if (std::ranges::any_of(members, asOther)) // whose nodes shall not go with these
        return withNodes(std::move(recipe), nodes, members, quantized);
    Names types = opTypesOf(recipe);
    if (!quantized) {
        std::erase(types, opType);
        // An empty list means the defaults, so the last type goes by its nodes.
        if (!types.empty()) {
            setTypes(recipe, std::move(types));
            return recipe;
        }
    }
    if (quantized && !contains(types, opType)) {
        types.push_back(opType);
        setTypes(recipe, std::move(types));
    }
    return withNodes(std::move(recipe), nodes, members, quantized);
}

Recipe withExclusion(Recipe recipe, const std::string& pattern, bool excluded)
{
    std::erase(recipe.exclude, pattern);
    if (excluded)
        recipe.exclude.push_back(pattern);
    return recipe;
}

Recipe withRange(Recipe recipe, const std::string& tensor, double lowest, double highest)
{
    QuantOverride grid;
    grid.lowest = lowest;
    grid.highest = highest;
    return withGrid(std::move(recipe), tensor, grid);
}

Recipe withScale(Recipe recipe, const std::string& tensor, double scale, int64_t zeroPoint)
{
    QuantOverride grid;
    grid.scale = scale;
    grid.zeroPoint = zeroPoint;
    return withGrid(std::move(recipe), tensor, grid);
}

Recipe withTensorType(Recipe recipe, const std::string& tensor, std::optional<DType> type)
{
    return withPart(std::move(recipe), tensor, &QuantOverride::type, type);
}

Recipe withSymmetry(Recipe recipe, const std::string& tensor, std::optional<bool> symmetric)
{
    return withPart(std::move(recipe), tensor, &QuantOverride::symmetric, symmetric);
}

Recipe withReduceRange(Recipe recipe, const std::string& tensor, std::optional<bool> reduceRange)
{
    return withPart(std::move(recipe), tensor, &QuantOverride::reduceRange, reduceRange);
}

Recipe withChannelAxis(Recipe recipe, const std::string& tensor, std::optional<int64_t> axis)
{
    TensorOverride& override = overrideOf(recipe, tensor);
    override.axis = axis;
    override.parts.resize(1); // those of single channels belonged to the axis before
    return tidied(std::move(recipe), tensor);
}

Recipe withCalibrator(Recipe recipe, const std::string& tensor, const std::optional<CalibratorOptions>& calibrator)
{
    recipe = withGrid(std::move(recipe), tensor, {});
    recipe.tensors.at(tensor).calibrator = calibrator;
    return tidied(std::move(recipe), tensor);
}

Recipe withBlocks(Recipe recipe, const std::string& node, const WeightOnlyNode& own)
{
    if (own == WeightOnlyNode {})
        recipe.weightOnly.nodes.erase(node);
    else
        recipe.weightOnly.nodes.insert_or_assign(node, own);
    return recipe;
}

Recipe withoutOverride(Recipe recipe, const Recipe& base, const std::string& tensor)
{
    recipe.tensors.erase(tensor);
    if (const auto it = base.tensors.find(tensor); it != base.tensors.end())
        recipe.tensors.insert(*it);
    return recipe;
}

Recipe recalibrated(Recipe recipe, const GraphDraft& floatModel)
{
    for (auto& [name, override] : recipe.tensors) {
        if (floatModel.constant(name))
            continue;
        for (QuantOverride& part : override.parts)
            setGrid(part);
        if (override.convert)
            setGrid(override.convert->to);
    }
    std::erase_if(recipe.tensors, [](const auto& entry) { return entry.second == TensorOverride {}; });
    return recipe;
}

Recipe recomputedWeights(Recipe recipe, const GraphDraft& floatModel)
{
    std::erase_if(recipe.tensors, [&](const auto& entry) { return floatModel.constant(entry.first) != nullptr; });
    return recomputedCodes(std::move(recipe));
}

Recipe withReducedWeights(Recipe recipe, const GraphDraft& floatModel)
{
    recipe.reduceRange = true;
    for (auto& [name, override] : recipe.tensors)
        if (floatModel.constant(name))
            followValues(override);
    return recipe;
}

Recipe withReducedWeight(Recipe recipe, const std::string& weight)
{
    TensorOverride& override = overrideOf(recipe, weight);
    followValues(override);
    for (QuantOverride& part : override.parts)
        part.reduceRange = true;
    return recipe;
}

Recipe withActivationType(Recipe recipe, const GraphDraft& floatModel, DType type)
{
    recipe = withoutOwn(std::move(recipe), floatModel, "activation_type");
    recipe.activationType = type;
    return recipe;
}

Recipe withWeightType(Recipe recipe, const GraphDraft& floatModel, DType type)
{
    recipe = withoutOwn(std::move(recipe), floatModel, "weight_type");
    recipe.weightType = type;
    return recipe;
}

Recipe withoutOwn(Recipe recipe, const GraphDraft& floatModel, std::string_view path)
{
    const bool ofActivations = path == "activation_type" || path == "symmetric_activations";
    const bool ofWeights
        = path == "weight_type" || path == "per_channel" || path == "symmetric_weights" || path == "reduce_range";
    for (auto& [name, override] : recipe.tensors) {
        if (floatModel.constant(name) ? !ofWeights : !ofActivations)
            continue;
        if (path == "activation_type")
            override.convert.reset();
        for (QuantOverride& part : override.parts)
            dropOwn(part, path, recipe.activationType);
        if (ofWeights)
            followValues(override);
        if (path == "per_channel")
            dropAxis(override, recipe.weightType);
    }
    std::erase_if(recipe.tensors, [&](const auto& entry) { // of a constant it may say that it has no channels
        const bool nothing = !recipe.perChannel || path == "per_channel" || !floatModel.constant(entry.first);
        return nothing && entry.second == TensorOverride {};
    });
    return recipe;
}

Recipe recomputedCodes(Recipe recipe)
{
    recipe.codes = {};
    return recipe;
}

Recipe placedByRules(Recipe recipe)
{
    recipe.placement = {};
    return recipe;
}

Recipe withRanges(Recipe recipe, const Ranges& ranges)
{
    for (const auto& [name, range] : ranges.tensors) {
        TensorOverride& override = overrideOf(recipe, name);
        if (override.calibrator)
            continue;
        for (QuantOverride* part : { &override.parts.front(), override.convert ? &override.convert->to : nullptr })
            if (part && !part->scale && !part->lowest && !part->highest) {
                part->lowest = range.lowest;
                part->highest = range.highest;
            }
    }
    return recipe;
}

} // namespace qs
