// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/step/kernel_mode.h"
#include "core/graph/graph.h"

/// One node computed through its lowering, without a graph around it.
namespace qs::test {

struct NodeCase {
    Node node;
    std::vector<Tensor> inputs; ///< an invalid tensor is an absent input
};

/// The opset is the newest one; 1 in other domains than ONNX's own.
NodeCase makeCase(
    const std::string& type, std::vector<Tensor> inputs, size_t outputs = 1, const std::string& domain = {});
NodeCase atOpset(int opset, NodeCase c);
NodeCase with(NodeCase c, const std::string& attribute, AttributeValue value);

/// Whether inputs 1 and on are known when the node is lowered.
enum class Weights { Constant, Data };

struct NodeOutcome {
    std::vector<Tensor> outputs;
    Tensor unrounded; ///< of kernels that offer it
    const Tensor& operator[](size_t i) const { return outputs[i]; }
};

Result<NodeOutcome> run(const NodeCase& c, KernelMode mode = KernelMode::Fast, Weights weights = Weights::Data);

} // namespace qs::test
