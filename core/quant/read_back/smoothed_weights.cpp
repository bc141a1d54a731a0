// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/read_back/smoothed_weights.h"

#include "core/qdq/qlinear_signature.h"
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

/// The same numbers in another form or place.
bool carriesOn(const Node& node)
{
    constexpr std::string_view kTypes[] { "Identity", "Cast", "Transpose", "Reshape", "Squeeze", "Unsqueeze" };
    return isQuantizeLinear(node) || isDequantizeLinear(node)
        || std::ranges::find(kTypes, node.opType) != std::end(kTypes);
}

/// Stored in the file, as it is or as codes.
bool isConstant(const Graph& graph, ValueId id)
{
    for (;;) {
        const Value& value = graph.value(id);
        if (value.initializer)
            return true;
        if (!value.producer.valid())
            return false;
        const Node& node = graph.node(value.producer);
        if (node.is("Constant"))
            return true;
        if (!carriesOn(node) || !node.hasInput(0))
            return false;
        id = node.inputs[0];
    }
}

/// The other operand of a sum or product of two.
bool hasConstant(const Graph& graph, const Node& node, size_t slot)
{
    return slot < 2 && node.hasInput(1 - slot) && isConstant(graph, node.inputs[1 - slot]);
}

/// The only one that reads it; null: none, or several.
const Node* onlyReader(const Graph& graph, ValueId id, size_t& slot)
{
    const auto& uses = graph.value(id).uses;
    if (uses.size() != 1 || !uses[0].node.valid() || !graph.node(uses[0].node).hasOutput(0))
        return nullptr;
    slot = uses[0].slot;
    return &graph.node(uses[0].node);
}

/// How often what this node makes is multiplied by constants before anything else becomes of it.
size_t factorsBehind(const Graph& graph, const Node& product)
{
    size_t count = 0, slot = 0;
    for (const Node* node = onlyReader(graph, product.outputs[0], slot); node;
         node = onlyReader(graph, node->outputs[0], slot)) {
        const bool sum = node->is("Add") || node->is("Sub"), factor = node->is("Mul") || (node->is("Div") && slot == 0);
        if (node->is("BatchNormalization") && slot == 0)
            ++count;
        else if (factor && hasConstant(graph, *node, slot))
            ++count;
        else if (!(sum && hasConstant(graph, *node, slot)) && !(slot == 0 && carriesOn(*node)))
            break;
    }
    return count;
}

/// The node that computes with this constant, through what makes floats of codes; null: none, or several.
const Node* computesWith(const Graph& graph, ValueId id)
{
    size_t slot = 0;
    const Node* node = id.valid() ? onlyReader(graph, id, slot) : nullptr;
    while (node && carriesOn(*node) && slot == 0)
        node = onlyReader(graph, node->outputs[0], slot);
    return node && slot > 0 ? node : nullptr;
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

std::vector<std::string> foldedFactors(const QuantizedFile& file, const GraphDraft& floatModel)
{
    std::vector<std::string> found;
    const auto built = floatModel.build();
    if (!built.ok())
        return found;
    const Graph &theirs = file.model->graph, &ours = (*built)->graph;
    for (const auto& [name, tensor] : file.tensors) {
        if (!tensor.constant || tensor.codesName.empty())
            continue;
        const Node* own = computesWith(ours, ours.findValue(name));
        const Node* other = computesWith(theirs, theirs.findValue(tensor.codesName));
        if (own && other && factorsBehind(ours, *own) != factorsBehind(theirs, *other))
            found.push_back(name);
    }
    return found;
}

void forgetWeights(const std::vector<std::string>& names, Recipe& recipe)
{
    for (const std::string& name : names) {
        recipe.codes.constants.erase(name);
        const auto own = recipe.tensors.find(name);
        if (own == recipe.tensors.end())
            continue;
        const auto type = own->second.parts.front().type;
        const bool usual = type.value_or(recipe.weightType) == recipe.weightType
            && own->second.axis.has_value() == recipe.perChannel;
        if (usual)
            recipe.tensors.erase(own);
        else // in that type, for the same channels
            own->second.parts = { { .type = type } };
    }
    if (recipe.codes.constants.empty())
        recipe.codes = {};
}

} // namespace qs
