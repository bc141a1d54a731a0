// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/constants.h"
#include "core/graph/graph.h"
#include "core/tensor/quant_params.h"

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace qs {

enum class QuantRole { Activation, Weight, Bias };

/// One quantized tensor of a graph, in whatever form the file says it.
struct Quantizer {
    QuantRole role = QuantRole::Activation;
    ValueId real; ///< float value before quantization (Q's input); invalid where only codes exist (stored weights,
                  ///< QLinear*)
    ValueId
        codes; ///< integer value (Q's output, after Cast/Clip between Q and DQ: the last one); stored integer weights
    ValueId dequantized; ///< output of the first DequantizeLinear in file order; invalid for QOperator tensors
    NodeId
        quantize; ///< the QuantizeLinear / DynamicQuantizeLinear / QLinear* node that makes the codes; may be invalid
    std::vector<NodeId> dequantize; ///< DequantizeLinear nodes, in node order
    Tensor logicalCodes; ///< of a weight that the file packs in its own way: its codes, one an element; else invalid
    QuantParams params; ///< empty scales when dynamic
    bool dynamic = false; ///< parameters computed from the data
    ValueId scaleValue; ///< dynamic: the computed scale and zero point
    ValueId zeroPointValue;
    /// The value compared with the float model: dequantized if there is one, else codes.
    ValueId shown() const { return dequantized.valid() ? dequantized : codes; }
};

/// A float operator between its quantizers: DQ -> op -> Q, or one QLinear* node, or a dynamic group.
struct QuantUnit {
    NodeId node; ///< the operator (Conv, QLinearConv ...)
    std::vector<uint32_t> inputs; ///< quantizers it reads (indices), activations first
    std::vector<uint32_t> outputs; ///< quantizers that its output goes through
};

/// How a file is quantized, as `info` prints it.
enum class QuantForm { Float, Qdq, QOperator, Dynamic, WeightOnly, Mixed };
std::string_view quantFormName(QuantForm form);

/// One view of the quantization in a graph. Needs the constants (scales may be computed by Constant, Cast, Identity).
class QuantView {
public:
    static QuantView of(const Graph& graph, const ConstantLookup& constants);
    QuantForm form() const { return m_form; }
    const std::vector<Quantizer>& quantizers() const { return m_quantizers; }
    const std::vector<QuantUnit>& units() const { return m_units; }
    /// Index of the quantizer that has this value as real, codes or dequantized value.
    std::optional<uint32_t> ofValue(ValueId id) const;
    /// The same, but only where the value is on the quantized side (codes or dequantized).
    std::optional<uint32_t> ofQuantized(ValueId id) const;
    /// The float value that the integer sums of ConvInteger or MatMulInteger become; invalid where there is none.
    ValueId scaledSums(ValueId sums) const;
    /// Nodes that only serve quantization: Q, DQ, and Cast / Clip / Identity / Constant around them. The folded graph
    /// view hides them.
    bool isPlumbing(NodeId id) const { return m_plumbing[id.index()]; }

private:
    friend class QuantViewBuilder;
    QuantForm m_form = QuantForm::Float;
    std::vector<Quantizer> m_quantizers;
    std::vector<QuantUnit> m_units;
    std::unordered_map<ValueId, uint32_t> m_byValue; ///< codes and dequantized
    std::unordered_map<ValueId, uint32_t> m_byReal;
    std::unordered_map<ValueId, ValueId> m_scaledSums;
    std::vector<bool> m_plumbing;
};

} // namespace qs
