// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/read_back/smoothed_weights.h"

#include <algorithm>
#include <map>
#include <set>

namespace qs {

namespace {

/// What a value is made of by nodes of these types.
ValueId behind(const Graph& graph, ValueId value, std::initializer_list<std::string_view> types)
{
    for (NodeId id = graph.value(value).producer; id.valid(); id = graph.value(value).producer) {
        const Node& node = graph.node(id);
        if (std::ranges::find(types, node.opType) == types.end() || !node.hasInput(0))
            break;
        value = node.inputs[0];
    }
    return value;
}

bool isStoredVector(const Graph& graph, ValueId id)
{
    const Value& value = graph.value(id);
    return value.initializer && isFloat(value.initializer->dtype()) && value.initializer->count() > 1;
}

/// A Mul by stored factors that the float model does not have.
bool isOwnMul(const Graph& graph, const std::set<std::string>& floatValues, NodeId id)
{
    if (!id.valid() || !graph.node(id).is("Mul") || !graph.node(id).hasOutput(0))
        return false;
    const Node& node = graph.node(id);
    return !floatValues.contains(graph.value(node.outputs[0]).name)
        && std::ranges::any_of(node.inputs, [&](ValueId in) { return in.valid() && isStoredVector(graph, in); });
}

} // namespace

std::vector<std::string> smoothedWeights(const QuantizedFile& file, const GraphDraft& floatModel)
{
    if (file.ownNames)
        return {};
    std::set<std::string> floatValues;
    for (const DraftNode& node : floatModel.nodes)
        floatValues.insert(node.outputs.begin(), node.outputs.end());
    std::map<std::string, std::string> byCodes;
    for (const auto& [name, tensor] : file.tensors)
        if (tensor.constant && tensor.role == QuantRole::Weight && !tensor.codesName.empty())
            byCodes.emplace(tensor.codesName, name);
    const Graph& graph = file.model->graph;
    std::vector<std::string> found;
    for (const Node& node : graph.nodes()) {
        const bool product = node.is("MatMul") || node.is("Gemm") || node.is("Conv");
        if (!product || !node.hasInput(0) || !node.hasInput(1))
            continue;
        const ValueId codes = behind(graph, node.inputs[1], { "DequantizeLinear", "Transpose", "Identity" });
        const auto weight = byCodes.find(graph.value(codes).name);
        const ValueId input
            = behind(graph, node.inputs[0], { "DequantizeLinear", "QuantizeLinear", "Identity", "Cast" });
        if (weight != byCodes.end() && isOwnMul(graph, floatValues, graph.value(input).producer))
            found.push_back(weight->second);
    }
    return found;
}

void forgetWeights(const std::vector<std::string>& names, Recipe& recipe)
{
    for (const std::string& name : names) {
        recipe.codes.constants.erase(name);
        recipe.tensors.erase(name);
    }
    if (recipe.codes.constants.empty())
        recipe.codes = {};
}

} // namespace qs
