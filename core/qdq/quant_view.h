// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/constants.h"
#include "core/graph/graph.h"
#include "core/qdq/quant_form.h"
#include "core/qdq/quantizer_index.h"

#include <optional>
#include <unordered_map>
#include <vector>

namespace qs {

/// A float operator between its quantizers: DQ -> op -> Q, or one QLinear* node, or a dynamic group.
struct QuantUnit {
    NodeId node; ///< the operator (Conv, QLinearConv ...)
    std::vector<uint32_t> inputs; ///< quantizers it reads (indices), activations first
    std::vector<uint32_t> outputs; ///< quantizers that its output goes through
};

/// One view of the quantization in a graph. Needs the constants (scales may be computed by Constant, Cast, Identity).
class QuantView {
public:
    static QuantView of(const Graph& graph, const ConstantLookup& constants);
    QuantForm form() const { return m_form; }
    const std::vector<Quantizer>& quantizers() const { return m_quantizers.all(); }
    const std::vector<QuantUnit>& units() const { return m_units; }
    /// Index of the quantizer that has this value as real, codes or dequantized value.
    std::optional<uint32_t> ofValue(ValueId id) const { return m_quantizers.ofValue(id); }
    /// The same, but only where the value is on the quantized side (codes or dequantized).
    std::optional<uint32_t> ofQuantized(ValueId id) const { return m_quantizers.ofQuantized(id); }
    /// The float value that the integer sums of ConvInteger or MatMulInteger become; invalid where there is none.
    ValueId scaledSums(ValueId sums) const;
    /// Nodes that only serve quantization: Q, DQ, and Cast / Clip / Identity / Constant around them. The folded graph
    /// view hides them.
    bool isPlumbing(NodeId id) const { return m_plumbing[id.index()]; }

private:
    QuantForm m_form = QuantForm::Float;
    QuantizerIndex m_quantizers;
    std::vector<QuantUnit> m_units;
    std::unordered_map<ValueId, ValueId> m_scaledSums;
    std::vector<bool> m_plumbing;
};

} // namespace qs
