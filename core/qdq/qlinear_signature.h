// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/graph.h"

#include <optional>
#include <vector>

namespace qs {

/// Where an integer operator keeps a tensor's scale and zero point: indices of node inputs, -1 = none.
struct CodeOperand {
    int codes;
    int scale;
    int zeroPoint;
};

/// Signature of the operators that compute on codes with parameters among their inputs (QLinear*, QGemm).
struct QLinearSignature {
    std::vector<CodeOperand> inputs;
    CodeOperand output; ///< `codes` unused (always output 0); scale -1: the node writes floats
    int bias = -1; ///< int32 bias with scale = scale(inputs[0]) * scale(inputs[1])
};

/// nullopt when the node is not such an operator. Sources: ONNX and ONNX Runtime operator documentation.
std::optional<QLinearSignature> qlinearSignature(const Node& node);

/// The ONNX operator that a QLinear / integer operator stands for ("QLinearConv" -> "Conv"); others as they are.
std::string floatOpType(const Node& node);

/// Operators that move or select elements of their first input, so that codes keep their scale and zero point. It and
/// the first output are there.
bool movesElements(const Node& node);

/// The same, and those that make elements from such codes or put some beside them: Resize of any mode, Pad.
bool keepsParams(const Node& node);

bool isQuantizeLinear(const Node& node);
bool isDequantizeLinear(const Node& node);

} // namespace qs
