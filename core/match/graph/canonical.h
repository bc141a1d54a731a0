// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/plan/plan.h"
#include "core/qdq/quant_view.h"

#include <string>
#include <vector>

namespace qs {

/// What a node does to the value that flows through it, as far as pairing cares.
enum class FlowKind {
    Opaque, ///< a step of its own
    Same, ///< the same numbers: Identity, Dropout, Q, DQ, plumbing, a Transpose that undoes the one before it
    Reshape, ///< the same numbers in another shape
    Activation, ///< Relu, Clip: what a quantizer's range may replace
    Affine, ///< BatchNormalization, or + - x / a constant: what an exporter may fold into weights
};

/// A graph seen without the plumbing of quantization and without what only renames or reshapes.
class CanonicalGraph {
public:
    CanonicalGraph(const Plan& plan, const QuantView* view);
    const Plan& plan() const { return *m_plan; }
    const Graph& graph() const { return m_plan->graph(); }
    /// The value that `id` is a copy of, through nodes of kind Same (quantizers included).
    ValueId root(ValueId id) const { return id.valid() ? m_root[id.index()] : id; }
    FlowKind kind(NodeId id) const { return m_kind[id.index()]; }
    /// Nodes that read a root, directly or through copies; nodes of kind Same left out. Node order.
    const std::vector<NodeId>& readers(ValueId rootId) const { return m_readers[rootId.index()]; }
    /// Roots of the inputs that are not constant, in input order.
    std::vector<ValueId> dataInputs(NodeId id) const;
    /// Operator class: integer forms count as the float operator, ReduceMean as GlobalAveragePool, Gemm as MatMul ...
    std::string opClass(NodeId id) const;
    /// Values worth pairing: graph inputs and outputs of nodes that are neither Same nor constant, topological order.
    const std::vector<ValueId>& activations() const { return m_activations; }
    /// Conv, MatMul, Gemm and the like: nodes with a constant weight.
    bool isHeavy(NodeId id) const;
    /// The constant weight as float32 in plain order (dequantized where the file quantizes it); empty = none.
    std::vector<float> weight(NodeId id) const;
    /// Its shape, one code an element; nullopt = none.
    std::optional<Shape> weightShape(NodeId id) const;
    std::optional<Dims> dims(ValueId id) const { return m_plan->facts().of(id).dims; }

private:
    /// What this Transpose makes again of what one before it had turned; invalid: it is none, or another's.
    ValueId turnedBack(NodeId id) const;
    /// The constant weight as the file has it and its quantizer; nulls where there is none.
    std::pair<const Tensor*, const Quantizer*> storedWeight(NodeId id) const;

    const Plan* m_plan;
    const QuantView* m_view;
    std::vector<ValueId> m_root;
    std::vector<FlowKind> m_kind;
    std::vector<std::vector<NodeId>> m_readers;
    std::vector<ValueId> m_activations;
};

/// The constant codes of a stored weight, one an element; null when they depend on data.
const Tensor* storedCodes(const Plan& plan, const Quantizer& q);
/// Float32 values of a stored weight through its quantizer's parameters, plain order.
std::vector<float> dequantized(const Tensor& codes, const QuantParams& params);

} // namespace qs
