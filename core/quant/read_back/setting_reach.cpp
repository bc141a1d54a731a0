// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/read_back/setting_reach.h"

#include <algorithm>
#include <array>

namespace qs {

namespace {

bool hasScale(const QuantOverride& part) { return part.scale || (part.lowest && part.highest); }

bool hasRange(const TensorOverride& tensor) { return hasScale(tensor.parts.front()); }
bool hasType(const TensorOverride& tensor) { return tensor.parts.front().type.has_value(); }
/// Its axis decides, also where it says none.
bool hasGranularity(const TensorOverride&) { return true; }
bool hasSymmetry(const TensorOverride& tensor)
{
    return tensor.parts.front().symmetric || tensor.parts.front().scale.has_value();
}
bool hasReduction(const TensorOverride& tensor)
{
    return tensor.parts.front().reduceRange || tensor.parts.front().scale.has_value();
}

struct Reach {
    std::string_view path; ///< or the beginning of it, where it ends with a point
    bool weights;
    bool (*own)(const TensorOverride&);
};

constexpr std::array<Reach, 7> kReaches { { { "calibration.", false, hasRange }, { "activation_type", false, hasType },
    { "symmetric_activations", false, hasSymmetry }, { "weight_type", true, hasType },
    { "per_channel", true, hasGranularity }, { "symmetric_weights", true, hasSymmetry },
    { "reduce_range", true, hasReduction } } };

} // namespace

SettingReach settingReach(
    const Recipe& recipe, const RecipeBase& base, const QuantizedNames& names, std::string_view path)
{
    const auto found = std::ranges::find_if(
        kReaches, [&](const Reach& r) { return r.path.ends_with('.') ? path.starts_with(r.path) : path == r.path; });
    if (found == kReaches.end() || !isStatic(recipe.format))
        return {};
    SettingReach reach;
    for (const std::string& name : found->weights ? names.weights : names.activations) {
        const auto said = recipe.tensors.find(name);
        // A file's recipe gives all that it quantizes a range: no recipe says what else the file has.
        if (!found->weights && base.origin == ValueOrigin::Imported && said == recipe.tensors.end()
            && !base.recipe.tensors.contains(name))
            continue;
        ++reach.tensors;
        if (said == recipe.tensors.end() || said->second.parts.empty() || !found->own(said->second))
            continue;
        ++reach.own;
        const auto read = base.recipe.tensors.find(name);
        reach.fromFile += base.origin == ValueOrigin::Imported && read != base.recipe.tensors.end()
            && read->second == said->second;
    }
    return reach;
}

bool givesRange(const Recipe& recipe, const std::string& tensor)
{
    const auto said = recipe.tensors.find(tensor);
    return said != recipe.tensors.end() && !said->second.parts.empty() && hasRange(said->second);
}

} // namespace qs
