// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/fuse/fused_unit.h"
#include "core/engine/fuse/qdq_graph.h"
#include "core/engine/fuse/unit_program.h"

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace qs {

/// Makes the unit around one operator of a Q/DQ graph, if ONNX Runtime makes one. The rules (which types, which
/// parameters, what must be constant) follow what its selectors take, the arithmetic is that of the QLinear operator.
class UnitBuilder {
public:
    UnitBuilder(const QdqGraph& qdq, const PlanOptions& options, NodeId op);
    /// Empty when the operator runs as the file says. More than one when equal quantizers follow.
    std::vector<FusedUnit> build();

private:
    using Slot = UnitProgram::Slot;
    using MaybeSlot = std::optional<Slot>;
    /// One operand of the operator: its codes and what they mean.
    struct Operand {
        RealCodes codes;
        Slot code, scale, zero;
    };

    // One a form of operator: the slot of its codes (or floats), nullopt when it is not joined.
    MaybeSlot integerOperator();
    /// A node of pairs that the runtime makes one of.
    MaybeSlot mergedNode();
    MaybeSlot convolution();
    MaybeSlot matrixProduct();
    MaybeSlot gemm();
    MaybeSlot gemmOf(Node gemm, Operand left, Operand right, Slot bias);
    MaybeSlot productWithAddend(const Operand& left, const Operand& right);
    /// MatMul or Gemm of floats with a stored weight of 2, 4 or 8 bits.
    MaybeSlot blockProduct();
    MaybeSlot elementwise();
    MaybeSlot unary();
    MaybeSlot concatenation();
    MaybeSlot selection();
    std::optional<std::vector<Operand>> codesAndNumber();
    MaybeSlot movement();
    /// Not joined, but its float constants become codes when the runtime loads the model.
    MaybeSlot quantizedConstants();

    /// The Add behind a MatMul that the runtime makes a Gemm of both of.
    struct Addend {
        NodeId sum;
        ValueId value;
    };
    std::optional<Addend> gemmAddend() const;
    struct StoredWeight {
        NodeId by; ///< its DequantizeLinear; invalid: there is none
        bool transposed = false;
    };
    StoredWeight storedWeight() const;
    bool codedAround() const;
    bool gemmIsProduct(int64_t columns) const;

    const Graph& graph() const { return m_qdq.graph(); }
    const Node& node() const { return graph().node(m_op); }
    const Tensor* constant(ValueId id) const { return m_qdq.constant(id); }
    const std::optional<Dims>& dimsOf(ValueId id) const { return m_qdq.lowered().facts().of(id).dims; }
    Slot value(ValueId id);
    MaybeSlot add(
        Node node, const std::vector<Slot>& inputs, DType output, PairSaturation saturation = PairSaturation::None);
    MaybeSlot addSeen(Node node, std::vector<Slot> inputs, size_t zeroSlot);
    /// The codes behind input i, of 8 bits; nullopt when there are none.
    std::optional<Operand> operand(size_t i);
    std::optional<Operand> operandOf(RealCodes codes);
    /// The same for several inputs with one type of codes, which the result has too, as the runtime sees them.
    std::optional<std::vector<Operand>> likeOperands(size_t first, size_t count);
    /// Computed from sizes alone: null where some are open.
    const Tensor* knownSizes(ValueId id) const;
    MaybeSlot moved(Slot codes, const std::vector<NodeId>& moves);
    MaybeSlot reshaped(Slot codes, const Shape& shape, DType type);
    Slot outScale() { return value(m_result->scale); }
    Slot outZero();

    /// Whether a weight's scales are one, or one for each of `channels` along `axis`.
    bool scalesFit(const Operand& o, int64_t channels, int64_t axis) const;
    bool oneGrid(const Operand& o) const;
    PairSaturation saturation(const Operand& left, const Operand& right) const;
    /// The int32 codes of a bias. An absent slot when the operator has none, nullopt when it cannot be joined.
    MaybeSlot bias(size_t i, const Operand& left, const Operand& right, bool checkScale);
    bool biasScaleFits(const RealCodes& bias, const Operand& left, const Operand& right) const;

    // What the runtime quantizes by itself (Conv, ConvTranspose, Gemm between Q and DQ).
    bool quantizesConstants() const;
    std::optional<Operand> quantizedWeight(const Tensor& weight);
    Operand quantizedNumber(float value);
    MaybeSlot quantizedBias(const Tensor& bias, const Operand& left, const Operand& right);

    FusedUnit unit(Slot result, DType output);
    const QdqGraph& m_qdq;
    const PlanOptions& m_options;
    NodeId m_op;
    UnitProgram m_program;
    std::optional<CodedResult> m_result;
    std::vector<NodeId> m_nodes; ///< of the unit
};

} // namespace qs
