// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/recipe/recipe_state.h"

#include "core/base/name_pattern.h"
#include "core/graph/draft.h"
#include "core/quant/recipe/op_types.h"

#include <algorithm>
#include <unordered_set>

namespace qs {

namespace {

/// For each name, the first of the patterns that matches it; "" where none does.
std::vector<std::string> firstMatches(const std::vector<std::string>& options, const std::vector<std::string>& names)
{
    std::vector<std::string> by(names.size());
    for (const std::string& pattern : splitPatterns(options, names)) {
        const auto found = matchNames(pattern, names);
        if (!found)
            continue;
        for (size_t i : *found)
            if (by[i].empty() || pattern == names[i])
                by[i] = pattern;
    }
    return by;
}

bool lists(const std::vector<std::string>& list, const std::string& text)
{
    return std::ranges::find(list, text) != list.end();
}

bool names(const Recipe& recipe, const std::string& pattern)
{
    return lists(recipe.exclude, pattern) || lists(recipe.include, pattern);
}

ValueOrigin originOfPattern(const std::string& pattern, const std::string& node, const RecipeBase& base)
{
    if (base.origin == ValueOrigin::Imported && names(base.recipe, pattern))
        return ValueOrigin::Imported;
    return pattern == node ? ValueOrigin::Override : ValueOrigin::ByPattern;
}

ValueOrigin originOfTypes(const Recipe& recipe, const RecipeBase& base)
{
    if (recipe.opTypes.empty())
        return ValueOrigin::Default;
    return base.origin == ValueOrigin::Imported && recipe.opTypes == base.recipe.opTypes ? ValueOrigin::Imported
                                                                                         : ValueOrigin::ByType;
}

} // namespace

QuantOverride firstPart(const Recipe& recipe, const std::string& tensor)
{
    const auto it = recipe.tensors.find(tensor);
    return it == recipe.tensors.end() || it->second.parts.empty() ? QuantOverride {} : it->second.parts.front();
}

std::string_view valueOriginName(ValueOrigin origin)
{
    switch (origin) {
    case ValueOrigin::Default:
        return "default";
    case ValueOrigin::Preset:
        return "preset";
    case ValueOrigin::Imported:
        return "imported";
    case ValueOrigin::ByType:
        return "by type";
    case ValueOrigin::ByPattern:
        return "by pattern";
    case ValueOrigin::Override:
        return "override";
    }
    return {};
}

std::vector<RecipeNode> recipeNodes(const GraphDraft& draft)
{
    std::vector<RecipeNode> nodes;
    for (const DraftNode& node : draft.nodes)
        if (node.opType != "Constant" && node.opType != "QuantizeLinear" && node.opType != "DequantizeLinear")
            nodes.push_back({ node.name, node.opType, isProductAndSum(node) });
    return nodes;
}

std::vector<NodeState> nodeStates(const Recipe& recipe, const RecipeBase& base, std::span<const RecipeNode> nodes)
{
    std::vector<std::string> all;
    for (const RecipeNode& node : nodes)
        all.push_back(node.name);
    const auto included = firstMatches(recipe.include, all), excluded = firstMatches(recipe.exclude, all);
    const auto& list = opTypesOf(recipe);
    const std::unordered_set<std::string> types(list.begin(), list.end());
    std::vector<NodeState> states;
    for (size_t n = 0; n < nodes.size(); ++n) {
        NodeState state;
        const std::string& pattern = excluded[n].empty() ? included[n] : excluded[n];
        const std::string type = nodes[n].chosenBy(recipe.format);
        if (!types.contains(type)) {
            state = { false, originOfTypes(recipe, base), type };
        } else if (!pattern.empty()) {
            state = { excluded[n].empty(), originOfPattern(pattern, nodes[n].name, base), pattern };
        } else if (!recipe.include.empty()) {
            state = { false, ValueOrigin::ByPattern, {} }; // named by none of what is included
        } else {
            state = { true, originOfTypes(recipe, base), type };
        }
        states.push_back(std::move(state));
    }
    return states;
}

TriState triState(std::span<const NodeState> states, std::span<const size_t> members)
{
    size_t quantized = 0;
    for (size_t i : members)
        quantized += states[i].quantized;
    return quantized == 0 ? TriState::None : quantized == members.size() ? TriState::All : TriState::Some;
}

TensorOrigins tensorOrigins(const Recipe& recipe, const RecipeBase& base, const std::string& tensor)
{
    const auto find = [&](const Recipe& r) {
        const auto it = r.tensors.find(tensor);
        return it == r.tensors.end() ? nullptr : &it->second;
    };
    const TensorOverride *own = find(recipe), *before = find(base.recipe);
    const QuantOverride now = firstPart(recipe, tensor), then = firstPart(base.recipe, tensor);
    const auto origin = [&](bool said, bool same) -> std::optional<ValueOrigin> {
        if (!said)
            return std::nullopt;
        return same && before ? base.origin : ValueOrigin::Override;
    };
    TensorOrigins origins;
    origins.type = origin(now.type.has_value(), now.type == then.type);
    origins.range = origin(now.lowest || now.highest, now.lowest == then.lowest && now.highest == then.highest);
    origins.scale = origin(now.scale.has_value(), now.scale == then.scale && now.zeroPoint == then.zeroPoint);
    origins.symmetric = origin(now.symmetric.has_value(), now.symmetric == then.symmetric);
    origins.reduceRange = origin(now.reduceRange.has_value(), now.reduceRange == then.reduceRange);
    origins.axis = origin(own && own->axis, own && before && own->axis == before->axis);
    origins.calibrator = origin(own && own->calibrator, own && before && own->calibrator == before->calibrator);
    return origins;
}

} // namespace qs
