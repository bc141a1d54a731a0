// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/lower/attention/parts.h"
#include "core/engine/lower/common/float_work.h"
#include "core/engine/lower/microsoft/parts.h"
#include "core/engine/registry/registry.h"

/// What com.microsoft's attention operators share.
namespace qs {

void lowerGroupQueryAttention(LoweringRegistry&); ///< GroupQueryAttention, RotaryEmbedding
void lowerDecoderAttention(LoweringRegistry&); ///< DecoderMaskedMultiHeadAttention

/// Attributes of an attention.
struct AttentionHead {
    int64_t heads = 1;
    std::optional<float> scale; ///< empty: 1 / sqrt(size of a head)
    float softcap = 0;
    bool causal = false;
    float maskFilter = 0; ///< added to the scores of keys that the mask leaves out
};
AttentionHead attentionHead(const Node& node);

/// Batch x heads x tokens x size; mask (added to the scores) and past may be invalid.
struct AttentionTensors {
    Tensor q, k, v, mask, pastK, pastV;
};
/// ONNX's Attention for such tensors, with so many outputs: result, present keys, present values.
Result<InnerOp> attentionOp(const AttentionHead& head, const AttentionTensors& t, KernelMode mode, size_t outputs);

/// Float32, or float64 for that type and for the reference.
DType attentionWork(DType type, KernelMode mode);
Tensor asWorkType(const StepContext& s, const Tensor& t, DType work);
Tensor asStored(const StepContext& s, Tensor t, DType type);
/// Batch x heads x tokens x size of rows (batch x tokens x row) that hold them from element `first` on.
Tensor headsOf(const StepContext& s, const Tensor& rows, int64_t first, int64_t heads, int64_t size);

} // namespace qs
