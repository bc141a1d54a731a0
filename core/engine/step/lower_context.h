// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/step/kernel_mode.h"
#include "core/engine/step/lowered_node.h"
#include "core/graph/graph.h"
#include "core/ops/op.h"

#include <functional>
#include <memory>
#include <span>
#include <string>

namespace qs {

class Plan;

/// Makes the plan of a subgraph of the node that is lowered; `inputs` is what is known of the subgraph's inputs.
using SubPlanFn
    = std::function<std::shared_ptr<const Plan>(std::shared_ptr<const Graph> graph, std::span<const Fact> inputs)>;

/// What a lowering function knows when the plan is made.
struct LowerContext {
    const Node& node;
    std::span<const Tensor* const> constants; ///< one a node input: its constant value, or null
    std::span<const DType> inputTypes; ///< Undefined where unknown or absent
    KernelMode mode = KernelMode::Fast;
    std::span<const std::string> captureNames = {}; ///< of Node::captures
    SubPlanFn subPlan = {};
    PairSaturation saturation = PairSaturation::None;
    bool wideQuotients = false; ///< QuantizeLinear divides float16 in float32, as ONNX Runtime does (integer profiles)
    int64_t channelBlock = 0; ///< of com.microsoft.nchwc nodes: channels in a block of the graph's images and filters

    const Tensor* constant(size_t i) const { return i < constants.size() ? constants[i] : nullptr; }
    DType inputType(size_t i) const { return i < inputTypes.size() ? inputTypes[i] : DType::Undefined; }
};

/// Chooses kernels and packs constant weights. An Issue says why the node cannot run ("input type complex64 ...").
using LowerFn = Result<LoweredNode> (*)(const LowerContext& context);

} // namespace qs
