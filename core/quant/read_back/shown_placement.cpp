// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/read_back/shown_placement.h"

#include "core/quant/read_back/quantized_outputs.h"
#include "core/quant/recipe/op_types.h"

#include <algorithm>
#include <array>
#include <set>

namespace qs {

namespace {

using Verdict = NodeChoice::Verdict;

bool hasBias(const DraftNode& node) { return isProduct(node) || node.opType.ends_with("Normalization"); }

/// They hand their input's elements on, so codes stay codes.
bool moves(const DraftNode& node)
{
    constexpr std::array<std::string_view, 12> kTypes { "Flatten", "Reshape", "Transpose", "Squeeze", "Unsqueeze",
        "Identity", "Slice", "Split", "MaxPool", "Expand", "Gather", "Tile" };
    return std::ranges::find(kTypes, node.opType) != kTypes.end();
}

/// Backends run them in one step with the product before them.
bool fuses(const DraftNode& node)
{
    constexpr std::array<std::string_view, 9> kTypes { "Relu", "Clip", "Add", "BatchNormalization", "LeakyRelu",
        "HardSwish", "HardSigmoid", "Mul", "Div" };
    return std::ranges::find(kTypes, node.opType) != kTypes.end();
}

/// Walks the nodes in order.
class Cover {
public:
    Cover(const FloatModel& model, const QuantizedFile& file)
        : m_model(model)
        , m_file(file)
    {
    }
    NodeChoice choice();

private:
    bool quantized(const std::string& name) const { return m_file.find(name) != nullptr; }
    bool real(const std::string& name) const { return m_model.realType(name) != DType::Undefined; }
    bool constant(const std::string& name) const { return m_model.draft.constant(name) != nullptr; }
    /// Its own quantizer makes codes of it, or that of the Relu or Clip behind it.
    bool endsInCodes(const DraftNode& node) const { return hasQuantizedOutputs(m_model, m_file, node, isClip); }
    bool readsCodes(const DraftNode& node) const;
    Verdict verdict(const DraftNode& node) const;

    const FloatModel& m_model;
    const QuantizedFile& m_file;
    std::set<std::string> m_inUnits; ///< values between nodes that run as one, without quantizers
};

bool Cover::readsCodes(const DraftNode& node) const
{
    bool any = false;
    for (const std::string& in : node.inputs) {
        if (in.empty() || !real(in) || constant(in))
            continue;
        any = true;
        if (!quantized(in) && !(fuses(node) && m_inUnits.contains(in)))
            return false;
    }
    return any;
}

Verdict Cover::verdict(const DraftNode& node) const
{
    const auto isReal = [&](const std::string& name) { return !name.empty() && real(name); };
    if (std::ranges::none_of(node.outputs, isReal) || std::ranges::none_of(node.inputs, isReal))
        return Verdict::Either;
    if (isProduct(node)) {
        const bool stored = node.hasInput(1) && constant(node.inputs[1]);
        const bool weight = node.hasInput(1) && quantized(node.inputs[1]);
        return weight && (stored || quantized(node.inputs[0])) ? Verdict::Quantized : Verdict::Float;
    }
    if (moves(node))
        return quantized(node.inputs[0]) || endsInCodes(node) ? Verdict::Quantized : Verdict::Float;
    return readsCodes(node) && endsInCodes(node) ? Verdict::Quantized : Verdict::Float;
}

NodeChoice Cover::choice()
{
    NodeChoice choice;
    for (const DraftNode& node : m_model.draft.nodes) {
        const Verdict found = verdict(node);
        choice.nodes.push_back(found);
        if (found != Verdict::Quantized || (!isProduct(node) && !fuses(node)))
            continue;
        for (const std::string& out : node.outputs)
            if (!out.empty() && !quantized(out) && m_model.readersOf(out).size() == 1)
                m_inUnits.insert(out);
    }
    return choice;
}

bool expressible(const FloatModel& model, const std::string& name, const FileTensor& tensor)
{
    if (model.realType(name) == DType::Undefined || tensor.params.scale.empty())
        return false;
    return tensor.constant || (tensor.params.scale.size() == 1 && tensor.params.blockSize == 0);
}

/// Biases whose input or weight has no quantizer: their scales would be products of nothing.
std::set<std::string> loneBiases(const FloatModel& model, const std::set<std::string>& placed)
{
    std::set<std::string> lone;
    for (const DraftNode& node : model.draft.nodes)
        if (hasBias(node) && node.hasInput(2) && placed.contains(node.inputs[2])
            && !(placed.contains(node.inputs[0]) && placed.contains(node.inputs[1])))
            lone.insert(node.inputs[2]);
    return lone;
}

} // namespace

NodeChoice coveredNodes(const FloatModel& model, const QuantizedFile& file) { return Cover(model, file).choice(); }

void placeAsShown(Recipe& recipe, const FloatModel& model, const QuantizedFile& file)
{
    std::set<std::string> placed;
    for (const auto& [name, tensor] : file.tensors)
        if (expressible(model, name, tensor))
            placed.insert(name);
    for (const std::string& name : loneBiases(model, placed))
        placed.erase(name);
    NodeChoice choice = coveredNodes(model, file);
    const auto& nodes = model.draft.nodes;
    std::set<std::string> reached;
    const auto reach = [&](const DraftNode& node) {
        reached.insert(node.inputs.begin(), node.inputs.end());
        reached.insert(node.outputs.begin(), node.outputs.end());
    };
    for (size_t n = 0; n < nodes.size(); ++n)
        if (choice.nodes[n] == Verdict::Quantized)
            reach(nodes[n]);
    // A quantizer among floats (before an operator that computes in float, say) needs a node that carries it.
    for (size_t n = 0; n < nodes.size(); ++n) {
        const auto lacks = [&](const std::string& name) { return placed.contains(name) && !reached.contains(name); };
        if (choice.nodes[n] != Verdict::Quantized
            && (std::ranges::any_of(nodes[n].outputs, lacks) || std::ranges::any_of(nodes[n].inputs, lacks))) {
            choice.nodes[n] = Verdict::Quantized;
            reach(nodes[n]);
        }
    }
    std::set<std::string> types(defaultOpTypes(recipe.format).begin(), defaultOpTypes(recipe.format).end());
    for (size_t n = 0; n < nodes.size(); ++n)
        if (choice.nodes[n] == Verdict::Quantized && types.insert(nodes[n].opType).second) {
            recipe.opTypes = opTypesOf(recipe);
            recipe.opTypes.push_back(nodes[n].opType);
        }
    chooseNodes(recipe, model, choice);
    recipe.placement = {};
    for (size_t n = 0; n < nodes.size(); ++n)
        if (choice.nodes[n] != Verdict::Float)
            recipe.placement.nodes.push_back(nodes[n].name);
    recipe.placement.tensors = { placed.begin(), placed.end() };
    recipe.keepRemovable = std::ranges::any_of(nodes, [&](const DraftNode& node) {
        const Node* made = isClip(node) ? file.producer(node.outputs.front()) : nullptr;
        return made && made->opType == node.opType && placed.contains(node.outputs.front());
    });
}

} // namespace qs
