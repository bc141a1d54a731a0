// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/recipe/recipe_state.h"

#include <span>
#include <string>
#include <string_view>

namespace qs {

/// How far a setting for all tensors reaches: some have a value of their own, which goes before.
struct SettingReach {
    size_t tensors = 0; ///< that the setting is about
    size_t own = 0; ///< of these, those with a value of their own
    size_t fromFile = 0; ///< of these, those whose value was read out of the quantized file and stands as it was
    bool idle() const { return tensors > 0 && own == tensors; } ///< it changes nothing
};

/// Quantized activations and constants (without biases) of the float model, by names.
struct QuantizedNames {
    std::vector<std::string> activations, weights;
};

/// `path` as in recipeOptions(): those of calibration, types, symmetry, granularity, reduced range; others reach
/// everything (`own` is 0).
SettingReach settingReach(
    const Recipe& recipe, const RecipeBase& base, const QuantizedNames& names, std::string_view path);

/// Whether the recipe gives this activation a range or a scale, so that no calibrator finds it.
bool givesRange(const Recipe& recipe, const std::string& tensor);

} // namespace qs
