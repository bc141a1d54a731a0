// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/pairs/compare_pair.h"

#include <string>
#include <vector>

namespace qs {

/// A fused node of the float model reads this, and the node of the quantized file that stands for it does not.
struct LackedInput {
    NodeId floatNode, quantNode;
    std::string input; ///< as ONNX Runtime calls it: "position_ids"
    bool possible = false; ///< the operator of the quantized file has such an input
};
/// In the order of the quantized file's nodes.
std::vector<LackedInput> lackedInputs(const ComparePair& pair);
/// What it means for these that stand for `floatNode`, and where else it is so; a sentence with a space before it, or
/// nothing.
std::string lackedText(const ComparePair& pair, const std::vector<LackedInput>& lacked, NodeId floatNode);

} // namespace qs
