// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/lower/attention/parts.h"
#include "core/engine/lower/common/float_work.h"
#include "core/engine/lower/microsoft/parts.h"
#include "core/engine/registry/registry.h"

/// What com.microsoft's attention operators share.
namespace qs {

void lowerGroupQueryAttention(LoweringRegistry&);
void lowerRotaryEmbedding(LoweringRegistry&); ///< and MRotaryEmbedding
void lowerSparseAttention(LoweringRegistry&);
void lowerGates(LoweringRegistry&); ///< GatedRMSNorm, LinearAttentionGate, GatedAdd
void lowerCacheReader(LoweringRegistry&); ///< our own DequantizeCache
void lowerDecoderAttention(LoweringRegistry&); ///< DecoderMaskedMultiHeadAttention

/// Attributes of an attention.
struct AttentionHead {
    int64_t heads = 1;
    std::optional<float> scale; ///< empty: 1 / sqrt(size of a head)
    float softcap = 0;
    bool causal = false;
    float maskFilter = 0; ///< added to the scores of keys that the mask leaves out
    int64_t stage = 0; ///< of the scores that are put out (ONNX's qk_matmul_output_mode)
};
AttentionHead attentionHead(const Node& node);

/// Batch x heads x tokens x size; mask (added to the scores) and past may be invalid.
struct AttentionTensors {
    Tensor q, k, v, mask, pastK, pastV;
};
/// ONNX's Attention for such tensors, with so many outputs: result, present keys, present values, scores.
Result<InnerOp> attentionOp(const AttentionHead& head, const AttentionTensors& t, KernelMode mode, size_t outputs);

/// Float32, or float64 for that type and for the reference.
DType attentionWork(DType type, KernelMode mode);
Tensor asWorkType(const StepContext& s, const Tensor& t, DType work);
Tensor asStored(const StepContext& s, Tensor t, DType type);
/// Batch x heads x tokens x size of rows (batch x tokens x row) that hold them from element `first` on.
Tensor headsOf(const StepContext& s, const Tensor& rows, int64_t first, int64_t heads, int64_t size);

struct RotarySettings {
    int64_t heads = 0; ///< 0: as many as the caches' size says
    int64_t rotated = 0; ///< 0: whole heads
    bool interleaved = false;
};
/// Turns x (batch x tokens x row, or batch x heads x tokens x size) by the caches' rows `positions` (batch x tokens),
/// or where there are none by caches with a row for each token.
Result<Tensor> rotate(const StepContext& s, const RotarySettings& settings, const Tensor& x, const Tensor& cosines,
    const Tensor& sines, const Tensor* positions, KernelMode mode);
/// Positions of all tokens: first[b], first[b] + 1 ...
Tensor positionsFrom(const StepContext& s, const std::vector<int64_t>& first, int64_t tokens);

} // namespace qs
