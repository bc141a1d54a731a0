// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/plan/plan.h"

#include <vector>

namespace qs {

/// Where the first input of a product with a constant weight (Conv, Gemm, MatMul and their forms on codes) has its
/// channels.
struct InputChannels {
    int64_t count = 0;
    bool last = false; ///< on the last axis, else on the second
};
/// A constant that a value was multiplied by right before: of Mul and Div, and the scale of a normalization.
struct InputScale {
    std::vector<double> factors; ///< one for each channel
    bool coded = false; ///< it is stored as codes, and rounded
    std::vector<double> terms {}; ///< that a normalization adds then; else empty
};
/// From the value back; quantizers are walked through.
std::vector<InputScale> inputScales(const Plan& plan, ValueId value, const InputChannels& channels);
/// What the second list multiplies by that the first one does not, by channel; empty: nothing, or a normalization whose
/// terms have other factors than its scales.
std::vector<double> ownInputFactors(std::vector<InputScale> ofFloat, std::vector<InputScale> ofQuant);

/// Of a product of the float file whose second input is a constant; count 0 for other nodes.
InputChannels inputChannels(const Plan& plan, NodeId product);
/// The channel of the input that an element of a product's weight, in plain order, meets.
size_t weightInput(const Node& product, const Shape& weight, size_t element);

} // namespace qs
