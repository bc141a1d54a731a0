// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/draft.h"
#include "core/quant/read_back/quantized_file.h"
#include "core/quant/recipe/recipe.h"

#include <string>
#include <vector>

namespace qs {

/// Weights of the float model, by name, whose product reads an input in the file that a Mul of the file's own
/// multiplies by constants: they have the inverse of these (SmoothQuant), so their codes are no codes of the float
/// model's weight. None where the file calls values otherwise than the float model.
std::vector<std::string> smoothedWeights(const QuantizedFile& file, const GraphDraft& floatModel);

/// Weights of the float model, by name, behind whose product one of the files multiplies by constants more often than
/// the other (a BatchNormalization that only one of them has folded): the file's codes hold other factors than the
/// weight of the float model's graph, and fit neither it nor the bias beside it.
std::vector<std::string> foldedFactors(const QuantizedFile& file, const GraphDraft& floatModel);

/// Without what the file says of these weights: they are quantized anew.
void forgetWeights(const std::vector<std::string>& names, Recipe& recipe);

} // namespace qs
