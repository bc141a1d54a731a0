// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/engine/step/kernel_mode.h"
#include "core/explain/explanation/explanation.h"
#include "core/graph/graph.h"
#include "core/tensor/tensor.h"

#include <vector>

namespace qs {

/// One operator with what one run gave it: a node of the graph, or a step of a fused unit.
struct Operation {
    const Node* node = nullptr;
    std::vector<Tensor> inputs; ///< plain; invalid: absent
    Tensor output; ///< plain
    size_t outputIndex = 0; ///< among the node's outputs
    PairSaturation saturation = PairSaturation::None;

    const Tensor* in(size_t slot) const
    {
        return slot < inputs.size() && inputs[slot].valid() ? &inputs[slot] : nullptr;
    }
};

/// real = scale * (code - zero point).
struct CodeGrid {
    float scale = 1;
    int64_t zeroPoint = 0;
};

/// Input of the float operator for which an operator on codes takes `slot`; of other operators the slot itself.
size_t operandIndex(const Node& node, size_t slot);

/// Element of an input as it is; sources are counted as the inputs are.
Operand operandAt(const Operation& op, size_t slot, int64_t element);
/// A code of an input, with what it means.
Operand codeAt(const Operation& op, size_t slot, int64_t element, CodeGrid grid);
/// A scale and a zero point among the inputs, one for all; absent ones are 1 and 0.
CodeGrid gridOf(const Operation& op, size_t scaleSlot, size_t zeroSlot);
/// Of a QuantizeLinear or DequantizeLinear: those of one element, by the attributes axis and block_size.
CodeGrid gridAt(const Operation& op, int64_t element);

/// What was found of the element: its code and what that means.
void setCode(ElementExplanation& e, int64_t code, CodeGrid grid);
/// Rounds `quotient` (in codes, float32) half to even, adds the zero point and keeps it within the codes of `type`: the
/// code. With the steps that say so; `clampFirst`: the bounds are met before rounding.
int64_t roundToCode(ElementExplanation& e, float quotient, DType type, CodeGrid grid, bool clampFirst);

// One family each: true where the operator is one of it, with the explanation filled in. Nothing but the operator's own
// inputs is looked at.
bool explainFloatProduct(const Operation& op, int64_t element, ElementExplanation& e);
bool explainCodeProduct(const Operation& op, int64_t element, ElementExplanation& e);
bool explainBlockProduct(const Operation& op, int64_t element, ElementExplanation& e);
bool explainElementwise(const Operation& op, int64_t element, ElementExplanation& e);
bool explainCodeFunction(const Operation& op, int64_t element, ElementExplanation& e);
bool explainPool(const Operation& op, int64_t element, ElementExplanation& e);
bool explainQuantizer(const Operation& op, int64_t element, ElementExplanation& e);
bool explainMovement(const Operation& op, int64_t element, ElementExplanation& e);
/// Any operator: what is cheap to know.
void explainOther(const Operation& op, int64_t element, ElementExplanation& e);

/// By the first family that takes it.
void explainOperation(const Operation& op, int64_t element, ElementExplanation& e);

} // namespace qs
