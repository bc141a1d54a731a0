// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/registry/registry.h"
#include "core/kernels/quantize/qlinear.h"

namespace qs {

// Parts of the quantization family, called by lowerQuant().
void lowerQLinearElementwise(LoweringRegistry&); ///< QLinearAdd, Mul, Sigmoid, LeakyRelu, Where, Concat
void lowerQLinearReductions(LoweringRegistry&); ///< QLinearAveragePool, GlobalAveragePool, Softmax

/// Scale and optional zero point of one tensor among the inputs of a step.
Result<Grid> readGrid(const StepContext& s, size_t scaleSlot, size_t zeroPointSlot);
/// Uint8 or int8 codes at a slot, or why they cannot be used.
Status checkCodes(const StepContext& s, size_t slot);

/// Float32 tensor for the value before rounding when it is asked for, shaped and laid out like `like`.
struct UnroundedOutput {
    UnroundedOutput(const StepContext& s, const Tensor& like);
    float* data() { return tensor.valid() ? tensor.fill<float>().data() : nullptr; }
    void hand(StepContext& s)
    {
        if (tensor.valid())
            s.setUnrounded(std::move(tensor));
    }
    Tensor tensor;
};

/// A step on 8-bit codes: fn is called with a value of the code type at `slot` and returns a Status.
template <class Fn> Status withCodeType(const StepContext& s, size_t slot, Fn fn)
{
    QS_CHECK(checkCodes(s, slot));
    return s.in(slot).dtype() == DType::Int8 ? fn(int8_t {}) : fn(uint8_t {});
}

LoweredNode qlinearNode(StepFn run, const LowerContext& c);

} // namespace qs
