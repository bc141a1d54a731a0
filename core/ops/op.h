// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/graph/graph.h"

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace qs {

/// One integer that is computed from shapes: a number, a size that has only a name (a free batch), or neither.
struct KnownInt {
    std::optional<int64_t> number;
    std::string symbol;
    bool known() const { return number || !symbol.empty(); }
    bool operator==(const KnownInt&) const = default;
};

/// What is known of a value without data: element type, sizes, and for constants the value itself.
struct Fact {
    DType dtype = DType::Undefined;
    std::optional<Dims> dims; ///< nullopt = unknown rank
    std::optional<Tensor> value; ///< a constant, or integers computed from shapes (Shape, Gather of Shape ...)
    std::shared_ptr<const Fact> element = {}; ///< of a sequence: what holds for each element, as far as it is known
    std::optional<std::vector<KnownInt>> ints = {}; ///< of a scalar or list of which only some elements are known
};

/// Facts of values that a graph reads but does not make, by name.
using OuterFacts = std::map<std::string, Fact, std::less<>>;

struct InferContext {
    const Node& node;
    std::span<const Fact> inputs; ///< one a node input; absent inputs have dtype Undefined
    const OuterFacts* captures = nullptr; ///< what its subgraphs read from the graph around it; null when nothing
    const Fact* input(size_t i) const { return i < inputs.size() && node.hasInput(i) ? &inputs[i] : nullptr; }
};

/// Facts of all outputs. An Issue means that the node cannot be right (a rank that does not fit ...); what is merely
/// unknown stays unknown.
using InferFn = Result<std::vector<Fact>> (*)(const InferContext& context);
/// Multiply-accumulates of one execution; nullopt where sizes are unknown. Null function: none.
using MacsFn = std::optional<int64_t> (*)(const InferContext& context, std::span<const Fact> outputs);

/// How closely two correct implementations agree.
enum class Tolerance {
    Exact, ///< data movement, integers
    OneUlp, ///< one rounding: Add, Mul, Div, Sqrt
    Elementary, ///< a few units in the last place: Exp, Tanh, Erf
    Accumulation, ///< sums in another order: Conv, MatMul, reductions, normalizations
    OneStep, ///< integer codes may differ by one step at rounding ties
};

/// Meaning of one operator over a range of opset versions.
struct Op {
    std::string_view domain; ///< "" = ai.onnx
    std::string_view type;
    InferFn infer;
    Tolerance tolerance = Tolerance::OneUlp;
    MacsFn macs = nullptr;
    int firstVersion = 1; ///< first opset version of `domain` that this entry describes
};

/// All operators whose meaning we know. Filled once by registerAllOps.
class OpRegistry {
public:
    void add(const Op& op)
    {
        m_byType[op.type].push_back(m_ops.size());
        m_ops.push_back(op);
    }
    /// The entry with the largest firstVersion <= node.opset; null when unknown.
    const Op* find(const Node& node) const;
    std::span<const Op> all() const { return m_ops; }

private:
    std::vector<Op> m_ops;
    std::unordered_map<std::string_view, std::vector<size_t>> m_byType;
};

/// The registry of this build.
const OpRegistry& opRegistry();

// One a family, each in its own file core/ops/<family>_ops.cpp, called by opRegistry().
void registerElementwiseOps(OpRegistry&); ///< unary, binary, variadic, Where, Clip, Cast, activations, PRelu ...
void registerQuantOps(OpRegistry&); ///< Q/DQ, DynamicQuantizeLinear, QLinearAdd/Mul/Sigmoid/pools/Concat/Softmax ...
void registerConvOps(OpRegistry&); ///< Conv, ConvTranspose, pools
void registerMatmulOps(OpRegistry&); ///< MatMul, Gemm
void registerNormOps(OpRegistry&); ///< BatchNormalization, LayerNormalization, InstanceNormalization, Softmax, LRN ...
void registerReduceOps(OpRegistry&); ///< Reduce*, ArgMax, ArgMin
void registerShapeOps(
    OpRegistry&); ///< Constant, ConstantOfShape, Shape, Reshape, Flatten, (Un)Squeeze, Identity, Range ...
void registerIndexOps(
    OpRegistry&); ///< Concat, Split, Slice, Gather, Expand, Tile, Transpose, Pad, Resize, DepthToSpace
void registerControlOps(OpRegistry&); ///< If, Loop, Scan, SequenceMap
void registerSequenceOps(OpRegistry&); ///< sequences, optionals, maps
void registerRecurrentOps(OpRegistry&); ///< RNN, GRU, LSTM
void registerAudioOps(OpRegistry&); ///< DFT, STFT, windows, MelWeightMatrix
void registerAttentionOps(OpRegistry&); ///< Attention, RotaryEmbedding, TensorScatter ...
void registerLossOps(OpRegistry&); ///< NegativeLogLikelihoodLoss, SoftmaxCrossEntropyLoss
void registerVisionOps(OpRegistry&); ///< GridSample, RoiAlign, NonMaxSuppression, Col2Im, DeformConv ...
void registerAlgebraOps(OpRegistry&); ///< Einsum, Det
void registerTextOps(OpRegistry&); ///< operators on strings
void registerRandomOps(OpRegistry&); ///< Random*, Bernoulli, Multinomial
void registerMlOps(OpRegistry&); ///< ai.onnx.ml
void registerMicrosoftOps(OpRegistry&); ///< FusedConv ... of ONNX Runtime's optimizer
void registerIntegerProductOps(OpRegistry&); ///< QLinearConv, QLinearMatMul, QGemm, ConvInteger, MatMulInteger

} // namespace qs
