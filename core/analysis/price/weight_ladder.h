// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/quant/recipe/recipe.h"

#include <string>
#include <vector>

namespace qs {

/// What a weight is stored as: codes in blocks, or (nullopt) float.
using WeightStore = std::optional<DType>;
std::string weightStoreName(const WeightStore& store); ///< "int4", "float"

/// What weights are offered, fewest bits first, float last: 4 and 8 bits, and 2 where the recipe has them; signed as
/// the recipe's type is. Of these only what the recipe's form and algorithm can have in a file that ONNX Runtime runs.
std::vector<WeightStore> weightLadder(const Recipe& recipe);

/// An Issue where the recipe stores no weights in blocks.
Status checkPriced(const Recipe& recipe);

} // namespace qs
