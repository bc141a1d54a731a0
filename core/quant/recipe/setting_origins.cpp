// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/recipe/setting_origins.h"

#include <algorithm>

namespace qs {

namespace {

bool touches(const std::vector<RecipeChange>& changes, std::string_view field)
{
    return std::ranges::any_of(changes, [&](const RecipeChange& change) {
        const auto inside = [](std::string_view path, std::string_view of) {
            return path == of || (path.starts_with(of) && path.size() > of.size() && path[of.size()] == '.');
        };
        return inside(change.field, field) || inside(field, change.field);
    });
}

} // namespace

SettingOrigins::SettingOrigins(const Recipe& recipe, const RecipeBase& base)
    : m_edits(recipeDiff(base.recipe, recipe))
    , m_preset(recipeDiff(Recipe {}, base.recipe))
    , m_baseOrigin(base.origin)
{
}

ValueOrigin SettingOrigins::of(std::string_view field) const
{
    if (touches(m_edits, field))
        return ValueOrigin::Override;
    return touches(m_preset, field) ? m_baseOrigin : ValueOrigin::Default;
}

} // namespace qs
