// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/lower/common/inner_op.h"
#include "core/engine/registry/registry.h"

/// Operators of com.microsoft that ONNX Runtime's optimizer and quantizer write.
namespace qs {

// Parts of the family, called by lowerMicrosoft().
void lowerMicrosoftFused(LoweringRegistry&); ///< FusedConv, FusedGemm, FusedMatMul, BiasGelu, FastGelu, NHWC ones
void lowerMicrosoftEmbedding(LoweringRegistry&); ///< EmbedLayerNormalization, QEmbedLayerNormalization
void lowerBlockProducts(LoweringRegistry&); ///< MatMulNBits, MatMulBnb4
void lowerGatherQuantized(LoweringRegistry&); ///< GatherBlockQuantized
void lowerMoe(LoweringRegistry&); ///< MoE, QMoE
void lowerNchwc(LoweringRegistry&); ///< com.microsoft.nchwc
void lowerMicrosoftAttention(LoweringRegistry&); ///< Attention, QAttention, MultiHeadAttention, GroupQueryAttention

} // namespace qs
