// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/pairs/compare_pair.h"
#include "core/graph/graph.h"
#include "core/match/alignment.h"
#include "core/tensor/quant_params.h"
#include "core/tensor/tensor.h"

#include <vector>

namespace qs {

/// The float weight of a pair, float32: where the files share a part of it alone, that part.
Tensor floatElements(const Tensor& constant, const WeightPair& pair);
/// What is stored for its elements, dequantized, in their order.
std::vector<float> storedElements(const Tensor& codes, const QuantParams& params, const WeightPair& pair);
/// What the codes of a weight or bias stand for to a node that reads them: a bias without a DequantizeLinear, which
/// several nodes may share, has the scale of each node's input times that of its weight.
QuantParams paramsRead(const ComparePair& pair, uint32_t quantizer, NodeId quantNode);
/// It is added to sums of products: 32 bits wide as a rule, of any type in files that others made.
bool isBias(const ComparePair& pair, const WeightPair& weight);

/// It adds its third input to its products.
bool takesBias(const Node& node);
/// An operator of this type that reads a constant of this shape adds a number for each channel: a bias of what comes
/// before it, whatever its type.
bool addsVector(const std::string& opType, const Shape& constant);
/// Output channels of a weight of the float model, by the node that reads it: where per-channel scales would go.
int64_t outputAxis(const Node& node, ValueId weight, const Shape& shape, bool bias);

} // namespace qs
