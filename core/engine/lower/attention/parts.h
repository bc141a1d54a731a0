// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/registry/registry.h"

/// Parts of the attention family, called by lowerAttentions().
namespace qs {

void lowerFlexAttention(LoweringRegistry&);
void lowerTokenMixing(LoweringRegistry&); ///< RotaryEmbedding, TensorScatter, LinearAttention, CausalConvWithState
void lowerCausalConvs(LoweringRegistry&); ///< CausalConvWithState of ONNX and of com.microsoft

/// Batch x heads x tokens x size as batch x tokens x (heads * size).
Tensor joinedHeads(const StepContext& s, const Tensor& t);

} // namespace qs
