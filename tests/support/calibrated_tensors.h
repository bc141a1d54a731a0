// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/plan/plan.h"

#include <algorithm>
#include <string>
#include <vector>

namespace qs::test {

/// Inputs and outputs of the nodes of these types (empty: of all) that are float32 or float16 and no initializers, in
/// graph order: what ONNX Runtime calibrates.
inline std::vector<std::string> tensorsToCalibrate(const Plan& plan, const std::vector<std::string>& opTypes = {})
{
    const Graph& graph = plan.graph();
    std::vector<std::string> names;
    std::vector<bool> taken(graph.values().size(), false);
    auto take = [&](ValueId id) {
        if (!id.valid() || taken[id.index()] || graph.value(id).initializer)
            return;
        const DType type = plan.facts().of(id).dtype;
        if (type != DType::Float32 && type != DType::Float16)
            return;
        taken[id.index()] = true;
        names.push_back(graph.value(id).name);
    };
    for (const Node& node : graph.nodes()) {
        if (!opTypes.empty() && std::ranges::find(opTypes, node.opType) == opTypes.end())
            continue;
        std::ranges::for_each(node.inputs, take);
        std::ranges::for_each(node.outputs, take);
    }
    return names;
}

} // namespace qs::test
