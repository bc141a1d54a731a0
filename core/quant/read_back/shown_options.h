// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/draft.h"
#include "core/quant/ranges/ranges.h"
#include "core/quant/read_back/quantized_file.h"
#include "core/quant/recipe/recipe.h"

namespace qs {

RecipeFormat shownFormat(const QuantizedFile& file);

/// The recipe's options as far as quantizers, codes and operators show them; no nodes, no ranges, no overrides.
Recipe shownOptions(const QuantizedFile& file);

/// Ranges of which the recipe makes the file's parameters; where there are none, or a tensor has a type of its own or
/// a second quantization, the recipe gets an override. What nodes of the file or of the float model make of constants
/// alone has a range like any other.
Ranges shownRanges(const QuantizedFile& file, Recipe& recipe, const GraphDraft* floatModel = nullptr);

/// An override that gives a tensor exactly these parameters.
TensorOverride exactOverride(const QuantParams& params);

} // namespace qs
