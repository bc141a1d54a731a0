// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/ids.h"
#include "core/tensor/quant_params.h"
#include "core/tensor/tensor.h"

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

} // namespace qs
