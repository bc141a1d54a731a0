// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/quant/recipe/recipe.h"

#include <string>
#include <vector>

namespace qs {

/// What was changed from `before` to `edited`, done to `onto`: fields that were not touched are those of `onto`, names
/// that were added to a list or taken from it are so there. An issue where the result is no recipe.
Result<Recipe> rebased(const Recipe& edited, const Recipe& before, const Recipe& onto);

/// Takes out what `added` says of nodes and tensors that the model has not, as far as `onto` does not say it, too;
/// patterns stay. Returns their names.
std::vector<std::string> withoutVanished(Recipe& added, const Recipe& onto, const Graph& model);

} // namespace qs
