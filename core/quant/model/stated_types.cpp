// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/model/stated_types.h"

#include <map>
#include <optional>
#include <string_view>

namespace qs {

namespace {

/// The input that the outputs have their element type from; nothing where it does not come from an input.
std::optional<size_t> typeGiver(const Node& node)
{
    static const std::map<std::string_view, std::optional<size_t>> others { { "Where", 1 }, { "OneHot", 2 },
        { "DequantizeLinear", 1 }, { "If", {} }, { "Loop", {} }, { "Scan", {} }, { "Cast", {} },
        { "ConstantOfShape", {} } };
    const auto it = others.find(node.opType);
    return it == others.end() ? std::optional<size_t>(0) : it->second;
}

bool inferred(const Node& node, const std::vector<bool>& stated)
{
    if (!node.domain.empty() && node.domain != "ai.onnx.ml")
        return false;
    const auto giver = typeGiver(node);
    return !giver || !node.hasInput(*giver) || stated[node.inputs[*giver].index()];
}

} // namespace

std::vector<bool> statedTypes(const Graph& graph)
{
    std::vector<bool> stated(graph.values().size(), true);
    for (const Node& node : graph.nodes()) {
        const bool known = inferred(node, stated);
        for (const ValueId out : node.outputs)
            if (out.valid())
                stated[out.index()] = known || graph.value(out).type.dtype != DType::Undefined;
    }
    return stated;
}

} // namespace qs
