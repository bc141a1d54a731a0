// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/read_back/node_choice.h"

#include "core/qdq/qlinear_signature.h"
#include "core/quant/read_back/quantized_outputs.h"
#include "core/quant/recipe/op_types.h"

#include <algorithm>

namespace qs {

namespace {

using Verdict = NodeChoice::Verdict;

bool isOneOf(const std::string& type, std::initializer_list<std::string_view> types)
{
    return std::ranges::find(types, type) != types.end();
}

/// Their output shares the parameters of their first input, and nothing is made when that is float.
bool passesOn(const std::string& type)
{
    return isOneOf(type,
        { "AveragePool", "Flatten", "Gather", "GatherElements", "MaxPool", "Reshape", "Resize", "Slice", "Squeeze",
            "TopK", "Transpose", "Unsqueeze" });
}

class Judge {
public:
    Judge(const FloatModel& model, const QuantizedFile& file, RecipeFormat format)
        : m_model(model)
        , m_file(file)
        , m_format(format)
    {
        if (format != RecipeFormat::Qdq)
            return;
        findQuietTypes();
        m_absorbs = std::ranges::any_of(model.draft.nodes, [&](const DraftNode& node) { return absorbed(node); });
    }
    Verdict verdict(const DraftNode& node) const;
    const std::set<std::string>& quietTypes() const { return m_quiet; }

private:
    Verdict pairs(const DraftNode& node) const;
    Verdict moved(const DraftNode& node) const;
    Verdict codes(const DraftNode& node) const;
    Verdict dynamic(const DraftNode& node) const;
    Verdict blocks(const DraftNode& node) const;
    bool quantized(const std::string& name) const { return m_file.find(name) != nullptr; }
    bool real(const std::string& name) const { return m_model.realType(name) != DType::Undefined; }
    bool constant(const std::string& name) const { return m_model.draft.constant(name) != nullptr; }
    bool hasQuantizedOutputs(const DraftNode& node) const;
    bool hasQuantizedInputs(const DraftNode& node) const;
    /// The Relu or Clip has no node any more: the codes saturate for it.
    bool absorbed(const DraftNode& node) const;
    /// Chosen, it would give the tensor before it its own range, as ONNX Runtime's tools do: here both have one.
    bool hasOtherRange(const DraftNode& clip) const;
    void findQuietTypes();

    const FloatModel& m_model;
    const QuantizedFile& m_file;
    RecipeFormat m_format;
    std::set<std::string> m_quiet;
    bool m_absorbs = false; ///< some Relu or Clip was left to the codes
};

bool Judge::absorbed(const DraftNode& node) const
{
    if (!isClip(node) || node.outputs.empty())
        return false;
    const Node* made = m_file.producer(node.outputs.front());
    return !made || made->opType != node.opType;
}

bool Judge::hasOtherRange(const DraftNode& clip) const
{
    const FileTensor* before = m_file.find(clip.inputs.front());
    const FileTensor* after = m_file.find(clip.outputs.front());
    if (!before || !after || before->converted || after->converted || before->params.dtype != after->params.dtype
        || m_model.readersOf(clip.inputs.front()).size() != 1)
        return false;
    return !sameParameters(before->params, after->params);
}

bool Judge::hasQuantizedOutputs(const DraftNode& node) const
{
    // Other quantizers keep the Relu and quantize behind it alone.
    return qs::hasQuantizedOutputs(m_model, m_file, node,
        [&](const DraftNode& reader) { return absorbed(reader) || (m_file.ownNames && isClip(reader)); });
}

bool Judge::hasQuantizedInputs(const DraftNode& node) const
{
    size_t count = node.inputs.size();
    if (isProduct(node))
        count = std::min<size_t>(count, 2); // biases may stay float
    else if (node.opType.ends_with("Normalization"))
        count = std::min<size_t>(count, 2);
    else if (isOneOf(node.opType, { "Pad", "Clip", "Resize", "CumSum", "Slice" }))
        count = std::min<size_t>(count, 1);
    return std::ranges::all_of(node.inputs.begin(), node.inputs.begin() + static_cast<std::ptrdiff_t>(count),
        [&](const std::string& in) { return in.empty() || !real(in) || quantized(in); });
}

void Judge::findQuietTypes()
{
    for (const DraftNode& node : m_model.draft.nodes) {
        const bool weight = isProduct(node) && node.hasInput(1) && constant(node.inputs[1]) && quantized(node.inputs[1])
            && m_model.readersOf(node.inputs[1]).size() == 1 && hasQuantizedInputs(node);
        if (weight && !hasQuantizedOutputs(node))
            m_quiet.insert(node.opType);
    }
}

Verdict Judge::moved(const DraftNode& node) const
{
    const std::string& in = node.inputs.front();
    const std::string& out = node.outputs.front();
    if (!real(out))
        return Verdict::Either;
    if (!quantized(in)) // the operators of Gather's kind quantize a constant
        return constant(in) && node.opType.starts_with("Gather") ? Verdict::Float : Verdict::Either;
    if (!quantized(out))
        return Verdict::Float;
    const FileTensor& from = *m_file.find(in);
    const FileTensor& to = *m_file.find(out);
    const std::string source = from.provider.empty() ? from.scaleName : m_file.find(from.provider)->scaleName;
    const bool converted = from.converted && to.scaleName.starts_with(source);
    return to.scaleName == source || converted ? Verdict::Quantized : Verdict::Float;
}

Verdict Judge::pairs(const DraftNode& node) const
{
    if (passesOn(node.opType))
        return moved(node);
    if (isClip(node)) {
        if (absorbed(node))
            return Verdict::Quantized;
        if (!quantized(node.inputs.front()))
            return Verdict::Either;
        if (m_absorbs && m_model.readersOf(node.inputs.front()).size() == 1)
            return Verdict::Float;
        if (hasOtherRange(node))
            return Verdict::Float;
    }
    if (node.is("Where") && !(quantized(node.inputs[1]) && quantized(node.inputs[2])))
        return Verdict::Either;
    const bool made = m_quiet.contains(node.opType) || hasQuantizedOutputs(node);
    return hasQuantizedInputs(node) && made ? Verdict::Quantized : Verdict::Float;
}

Verdict Judge::codes(const DraftNode& node) const
{
    const std::string& out = node.outputs.front();
    const Node* made = m_file.producer(out);
    if (!made || floatOpType(*made) != made->opType || absorbed(node))
        return Verdict::Quantized;
    const std::string& in = node.inputs.empty() ? out : node.inputs.front();
    const bool onCodes = made->hasInput(0) && std::ranges::any_of(made->inputs, [&](ValueId id) {
        return id.valid() && m_file.model->graph.value(id).name != in
            && m_file.model->graph.value(id).name.ends_with("quantized");
    });
    if (onCodes)
        return Verdict::Quantized;
    const bool moves = passesOn(node.opType) || isClip(node)
        || isOneOf(node.opType, { "GlobalAveragePool", "ArgMax", "Pad", "Where" });
    const bool possible = node.is("Gather") ? constant(in) : !moves || quantized(in);
    return possible ? Verdict::Float : Verdict::Either;
}

Verdict Judge::dynamic(const DraftNode& node) const
{
    if (m_file.nodes.contains(node.name + "_quant") || m_file.nodes.contains(node.name + "_MatMul_quant"))
        return Verdict::Quantized;
    const auto at = m_file.nodes.find(node.name);
    if (at != m_file.nodes.end() && (node.is("Transpose") || node.is("Gather"))) {
        const Node& made = m_file.model->graph.node(at->second);
        const std::string& in = node.inputs.front();
        if (made.hasInput(0) && m_file.model->graph.value(made.inputs[0]).name != in)
            return Verdict::Quantized;
        return node.is("Gather") ? (constant(in) ? Verdict::Float : Verdict::Either)
            : quantized(in)      ? Verdict::Float
                                 : Verdict::Either;
    }
    const bool kept = at != m_file.nodes.end() && m_file.model->graph.node(at->second).opType == node.opType;
    const bool weight = node.hasInput(1) && constant(node.inputs[1]);
    return kept && (weight || node.is("Gemm")) ? Verdict::Float : Verdict::Either;
}

Verdict Judge::blocks(const DraftNode& node) const
{
    const Node* made = m_file.producer(node.outputs.front());
    if (!made)
        return Verdict::Either;
    if (made->opType != node.opType)
        return Verdict::Quantized;
    const Tensor* weight = node.hasInput(1) ? m_model.draft.constant(node.inputs[1]) : nullptr;
    if (node.is("MatMul") && weight && weight->rank() == 2)
        return made->hasInput(1) && m_file.model->graph.value(made->inputs[1]).name == node.inputs[1]
            ? Verdict::Float
            : Verdict::Quantized;
    return Verdict::Either;
}

Verdict Judge::verdict(const DraftNode& node) const
{
    if (node.outputs.empty() || (node.inputs.empty() && node.opType != "Constant"))
        return Verdict::Either;
    switch (m_format) {
    case RecipeFormat::Qdq:
        return pairs(node);
    case RecipeFormat::QOperator:
        return codes(node);
    case RecipeFormat::Dynamic:
        return dynamic(node);
    case RecipeFormat::WeightOnly:
        break;
    }
    return blocks(node);
}

} // namespace

NodeChoice nodeChoice(const FloatModel& model, const QuantizedFile& file, RecipeFormat format)
{
    const Judge judge(model, file, format);
    NodeChoice choice;
    for (const DraftNode& node : model.draft.nodes)
        choice.nodes.push_back(judge.verdict(node));
    choice.quietTypes = judge.quietTypes();
    return choice;
}

void chooseNodes(Recipe& recipe, const FloatModel& model, const NodeChoice& choice)
{
    const auto& wanted = opTypesOf(recipe);
    std::set<std::string> quantized, kept;
    const auto& nodes = model.draft.nodes;
    for (size_t n = 0; n < nodes.size(); ++n) {
        if (choice.nodes[n] == Verdict::Quantized)
            quantized.insert(nodes[n].opType);
        else if (choice.nodes[n] == Verdict::Float)
            kept.insert(nodes[n].opType);
    }
    const auto listed = [&](const std::string& type) { return std::ranges::find(wanted, type) != wanted.end(); };
    // The dynamic form takes every Gemm apart that is not excluded.
    const auto excludedAlone
        = [&](const std::string& type) { return recipe.format == RecipeFormat::Dynamic && type == "Gemm"; };
    const bool lacksTypes
        = std::ranges::any_of(kept, [&](const std::string& type) { return listed(type) && !quantized.contains(type); });
    if (lacksTypes)
        recipe.opTypes = { wanted.begin(), wanted.end() };
    if (lacksTypes)
        std::erase_if(
            recipe.opTypes, [&](const std::string& type) { return kept.contains(type) && !quantized.contains(type); });
    recipe.exclude.clear();
    for (size_t n = 0; n < nodes.size(); ++n) {
        const std::string& type = nodes[n].opType;
        if (choice.nodes[n] == Verdict::Float && (excludedAlone(type) || (listed(type) && quantized.contains(type))))
            recipe.exclude.push_back(nodes[n].name);
    }
    recipe.noOutputTypes = { choice.quietTypes.begin(), choice.quietTypes.end() };
}

} // namespace qs
