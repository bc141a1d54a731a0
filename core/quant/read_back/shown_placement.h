// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/model/float_model.h"
#include "core/quant/read_back/node_choice.h"
#include "core/quant/read_back/quantized_file.h"

namespace qs {

/// Which nodes the quantizers of a Q/DQ file cover, whoever put them there: products with codes of their weights,
/// operators between quantizers, what is fused behind a product (Relu, Clip, Add ...) up to the next quantizer.
NodeChoice coveredNodes(const FloatModel& model, const QuantizedFile& file);

/// Sets the recipe's operator types, excluded nodes and placement so that the covered nodes have the file's quantizers
/// and no others. Tensors whose quantizers no recipe can express are left out.
void placeAsShown(Recipe& recipe, const FloatModel& model, const QuantizedFile& file);

} // namespace qs
