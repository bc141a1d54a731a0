// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/recipe/recipe_diff.h"
#include "core/quant/recipe/recipe_state.h"

#include <string_view>
#include <vector>

namespace qs {

/// Where the settings of a recipe come from; it is compared with its base once.
class SettingOrigins {
public:
    SettingOrigins(const Recipe& recipe, const RecipeBase& base);
    /// Of the field with this path, as in recipeDiff ("calibration.method", "per_channel", "tensors.X").
    ValueOrigin of(std::string_view field) const;

private:
    std::vector<RecipeChange> m_edits, m_preset; ///< against the base; of the base against the defaults
    ValueOrigin m_baseOrigin;
};

} // namespace qs
