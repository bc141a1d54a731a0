// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/recipe/recipe_edit.h"

namespace qs::test {

/// The edit of one node.
inline Recipe withNode(Recipe recipe, std::span<const RecipeNode> nodes, size_t node, bool quantized)
{
    return withNodes(std::move(recipe), nodes, { &node, 1 }, quantized);
}

} // namespace qs::test
