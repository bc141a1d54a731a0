// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <vector>

class QMenu;

namespace qs {

class RecipeView;

/// Adds what can be done with a unit of the recipe: quantize or exclude it as a whole, and its parts in a menu of their
/// own. Adds nothing for no nodes, and where nothing can be edited.
void addUnitActions(QMenu& menu, RecipeView& recipe, const std::vector<size_t>& members);
/// The parts alone: one action that can be checked each.
void addPartActions(QMenu& menu, RecipeView& recipe, const std::vector<size_t>& members);

} // namespace qs
