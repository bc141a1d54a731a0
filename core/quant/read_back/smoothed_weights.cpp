// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/read_back/smoothed_weights.h"

#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>
#include <map>

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

/// What a node multiplies by that the file stores as floats; null: nothing.
const Tensor* storedFactors(const Graph& graph, const Node& node)
{
    const bool normalizes = node.opType.ends_with("Normalization");
    if (!normalizes && !node.is("Mul") && !node.is("Div"))
        return nullptr;
    for (size_t slot = normalizes ? 1 : 0; slot < 2 && node.hasInput(slot); ++slot)
        if (const auto& stored = graph.value(node.inputs[slot]).initializer; stored && isFloat(stored->dtype()))
            return &*stored;
    return nullptr;
}

/// But for how they were rounded; a single one stands for many.
bool isNear(const std::vector<float>& a, const std::vector<float>& b)
{
    constexpr float kRounded = 0.01f; // as float16 and bfloat16
    for (size_t i = 0; !a.empty() && !b.empty() && i < std::max(a.size(), b.size()); ++i) {
        const float x = a[a.size() == 1 ? 0 : i % a.size()], y = b[b.size() == 1 ? 0 : i % b.size()];
        if (std::fabs(x - y) > kRounded * std::fabs(x))
            return false;
    }
    return true;
}

/// The node multiplies by other factors than the float model's of this output, or the float model has no such node.
bool hasOwnFactors(const Graph& graph, const GraphDraft& floatModel, NodeId id)
{
    const Tensor* factors = id.valid() && graph.node(id).hasOutput(0) ? storedFactors(graph, graph.node(id)) : nullptr;
    if (!factors)
        return false;
    const std::string& name = graph.value(graph.node(id).outputs[0]).name;
    const auto same = std::ranges::find_if(
        floatModel.nodes, [&](const DraftNode& n) { return n.hasOutput(0) && n.outputs[0] == name; });
    if (same == floatModel.nodes.end())
        return graph.node(id).is("Mul") && factors->count() > 1;
    if (same->opType != graph.node(id).opType)
        return false; // what both do is not known
    for (const std::string& in : same->inputs)
        if (const Tensor* own = floatModel.constant(in); own && isFloat(own->dtype()))
            return !isNear(toFloats(*own), toFloats(*factors));
    return false; // not known
}

} // namespace

std::vector<std::string> smoothedWeights(const QuantizedFile& file, const GraphDraft& floatModel)
{
    if (file.ownNames)
        return {};
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
        if (weight != byCodes.end() && hasOwnFactors(graph, floatModel, graph.value(input).producer))
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
