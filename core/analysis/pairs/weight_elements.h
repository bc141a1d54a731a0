// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/match/alignment.h"
#include "core/tensor/quant_params.h"
#include "core/tensor/tensor.h"

#include <vector>

namespace qs {

/// The float weight of a pair, float32: where the files share a part of it alone, that part.
Tensor floatElements(const Tensor& constant, const WeightPair& pair);
/// What is stored for its elements, dequantized, in their order.
std::vector<float> storedElements(const Tensor& codes, const QuantParams& params, const WeightPair& pair);

} // namespace qs
