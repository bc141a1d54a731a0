// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/qdq/writer.h"

#include "core/base/work/cancel_scope.h"
#include "core/qdq/name_tails.h"
#include "core/quant/model/constant_codes.h"
#include "core/quant/model/opsets.h"
#include "core/quant/params/float8.h"
#include "core/quant/params/weights.h"
#include "core/tensor/convert.h"

#include <algorithm>

namespace qs {

namespace {

class QdqWriter {
public:
    QdqWriter(FloatModel& model, const QdqMarks& marks, const QdqParameters& parameters)
        : m_model(model)
        , m_draft(model.draft)
        , m_recipe(marks.recipe)
        , m_marks(marks)
        , m_parameters(parameters)
    {
    }
    Status write();

private:
    /// Names of the constants that hold a tensor's parameters.
    struct ParamNames {
        std::string scale, zeroPoint;
    };
    struct PairNames {
        std::string node, input, codes, output;
    };
    Status tensor(const std::string& name);
    Status constantTensor(const std::string& name, const QuantParams& params);
    void activationTensor(const std::string& name, const NamedParams& original);
    void convertedActivation(
        const std::string& name, const QuantParams& own, const ParamNames& names, const QdqParams& conversion);
    Status biasTensor(const BiasMark& mark);
    void realBias(const BiasMark& mark);

    ParamNames storeParams(
        const std::string& name, const QuantParams& params, const Shape& weight, const std::string& suffix = {});
    ParamNames paramNames(const std::string& name, bool converted) const;
    void addQuantize(const std::string& node, const std::string& in, const std::string& out, const ParamNames& names,
        const QuantParams& params);
    void addDequantize(const std::string& node, const std::string& in, const std::string& out, const ParamNames& names,
        const QuantParams& params);
    void add(DraftNode node, const QuantParams& params);
    void redirect(const std::string& from, const std::string& to);
    void renameOutput(const std::string& from, const std::string& to);
    /// A node that reads it twice is there twice.
    std::vector<size_t> quantizedReaders(const std::string& name) const;

    FloatModel& m_model;
    GraphDraft& m_draft;
    const Recipe& m_recipe;
    const QdqMarks& m_marks;
    const QdqParameters& m_parameters;
};

void QdqWriter::redirect(const std::string& from, const std::string& to)
{
    for (size_t n : m_model.readersOf(from))
        std::ranges::replace(m_draft.nodes[n].inputs, from, to);
}

void QdqWriter::renameOutput(const std::string& from, const std::string& to)
{
    const auto producer = m_model.producers.find(from);
    if (producer != m_model.producers.end())
        std::ranges::replace(m_draft.nodes[producer->second].outputs, from, to);
}

void QdqWriter::add(DraftNode node, const QuantParams& params)
{
    node.domain = pairDomain(m_model.draft, m_recipe);
    if (params.axis)
        node.attributes.set("axis", *params.axis);
    if (params.blockSize > 0)
        node.attributes.set("block_size", params.blockSize);
    m_draft.nodes.push_back(std::move(node));
}

void QdqWriter::addQuantize(const std::string& node, const std::string& in, const std::string& out,
    const ParamNames& names, const QuantParams& params)
{
    add({ NodeId(), node, "QuantizeLinear", "", { in, names.scale, names.zeroPoint }, { out }, {} }, params);
}

void QdqWriter::addDequantize(const std::string& node, const std::string& in, const std::string& out,
    const ParamNames& names, const QuantParams& params)
{
    add({ NodeId(), node, "DequantizeLinear", "", { in, names.scale, names.zeroPoint }, { out }, {} }, params);
}

QdqWriter::ParamNames QdqWriter::paramNames(const std::string& name, bool converted) const
{
    const std::string tail = converted ? "_convert" : "";
    return { name + tails::kScale + tail, name + tails::kZeroPoint + tail };
}

QdqWriter::ParamNames QdqWriter::storeParams(
    const std::string& name, const QuantParams& params, const Shape& weight, const std::string& suffix)
{
    ParamNames names { name + tails::kScale + suffix, name + tails::kZeroPoint + suffix };
    const Shape shape = paramsShape(params, weight);
    const DType real = m_marks.find(name) ? m_marks.of(name).real : DType::Float32;
    m_draft.setConstant(names.scale, realTensor(real, shape, params.scale));
    m_draft.setConstant(names.zeroPoint, codeTensor(params.dtype, shape, params.zeroPoint));
    return names;
}

std::vector<size_t> QdqWriter::quantizedReaders(const std::string& name) const
{
    std::vector<size_t> readers;
    for (size_t n : m_model.readersOf(name))
        if (m_model.chosen[n] && !m_marks.removed().contains(n))
            readers.push_back(n);
    return readers;
}

Status QdqWriter::constantTensor(const std::string& name, const QuantParams& params)
{
    const Tensor weight = *m_draft.constant(name);
    const ParamNames names = storeParams(name, params, weight.shape());
    const std::string output = name + tails::kDequantizeOutput;
    std::string codes = name + tails::kCodes;
    redirect(name, output);
    if (m_recipe.pairsForWeights) {
        codes = name + tails::kQuantizeOutput;
        addQuantize(name + tails::kQuantize, name, codes, names, params);
        if (const Tensor kept = keptCodes(m_model, name, weight, params); kept.valid()) // rounds to them
            m_draft.setConstant(name, realOf(kept, params, weight.dtype()));
    } else {
        const Tensor kept = keptCodes(m_model, name, weight, params);
        m_draft.setConstant(codes, kept.valid() ? kept : m_model.constants->codes(weight, params));
    }
    addDequantize(name + tails::kDequantize, codes, output, names, params);
    return {};
}

void QdqWriter::activationTensor(const std::string& name, const NamedParams& original)
{
    const QuantParams& own = *original.params;
    const bool shares = original.holder != name;
    const ParamNames names = shares ? paramNames(original.holder, original.converted) : storeParams(name, own, {});
    if (const QdqParams* params = m_parameters.find(name); params && params->converted) {
        convertedActivation(name, own, names, *params);
        return;
    }
    const auto dedicated = m_recipe.dedicatedPairs ? quantizedReaders(name) : std::vector<size_t> {};
    if (dedicated.size() > 1) {
        for (size_t i = 0; i < dedicated.size(); ++i) {
            const std::string tail = "_" + std::to_string(i + 1);
            const std::string codes = name + tails::kQuantizeOutput + tail;
            const std::string output = name + tails::kDequantizeOutput + tail;
            std::ranges::replace(m_draft.nodes[dedicated[i]].inputs, name, output);
            addQuantize(name + tails::kQuantize + tail, name, codes, names, own);
            addDequantize(name + tails::kDequantize + tail, codes, output, names, own);
        }
        return;
    }
    std::string input = name;
    std::string output = name + tails::kDequantizeOutput;
    if (m_draft.isOutput(name)) {
        input = name + tails::kQuantizeInput;
        output = name;
        renameOutput(name, input);
    } else {
        redirect(name, output);
    }
    const std::string codes = name + tails::kQuantizeOutput;
    addQuantize(name + tails::kQuantize, input, codes, names, own);
    addDequantize(name + tails::kDequantize, codes, output, names, own);
}

void QdqWriter::convertedActivation(
    const std::string& name, const QuantParams& own, const ParamNames& names, const QdqParams& conversion)
{
    const ParamNames second = storeParams(name, *conversion.converted, {}, "_convert");
    const bool isOutput = m_draft.isOutput(name);
    std::set<size_t> quantized;
    for (size_t n : quantizedReaders(name))
        quantized.insert(n);
    // ONNX Runtime compares numbers of readers, not the readers.
    const bool all = conversion.convertedReaders.empty() || conversion.convertedReaders.size() == quantized.size();
    std::string input = name;
    std::string first = name + tails::kDequantizeOutput;
    std::string last = name + "_convert_DequantizeLinear_Output";
    if (isOutput) {
        input = name + tails::kQuantizeInput;
        renameOutput(name, input);
        (all ? last : first) = name;
    }
    for (size_t n : m_model.readersOf(name)) {
        DraftNode& reader = m_draft.nodes[n];
        const bool named = conversion.convertedReaders.contains(reader.name);
        const bool converts = named || (conversion.convertedReaders.empty() && quantized.contains(n));
        if (converts || quantized.contains(n)) // others keep the float value
            std::ranges::replace(reader.inputs, name, converts ? last : first);
    }
    const std::string codes = name + tails::kQuantizeOutput;
    const std::string secondCodes = name + "_convert_QuantizeLinear_Output";
    addQuantize(name + tails::kQuantize, input, codes, names, own);
    addDequantize(name + tails::kDequantize, codes, first, names, own);
    std::string between = first;
    if (!all) { // readers of the first type keep a pair of their own
        between = name + "_convert_QuantizeLinear_Input";
        addDequantize(name + "_convert_clone_DequantizeLinear", codes, between, names, own);
    }
    addQuantize(name + "_convert_QuantizeLinear", between, secondCodes, second, *conversion.converted);
    addDequantize(name + "_convert_DequantizeLinear", secondCodes, last, second, *conversion.converted);
}

Status QdqWriter::biasTensor(const BiasMark& mark)
{
    const QuantParams* input = m_parameters.seenBy(mark.input, mark.node).params;
    const QuantParams* weight = m_parameters.seenBy(mark.weight, mark.node).params;
    if (!input || !weight)
        return Issue { IssueKind::BadInput, "is a bias whose node has an input without a quantizer", {}, mark.node,
            mark.bias, "exclude the node" };
    if (isFloat8(m_recipe.weightType)) {
        realBias(mark);
        return {};
    }
    const Tensor bias = *m_draft.constant(mark.bias);
    const bool newer = m_recipe.ortVersion != OrtVersion::V1_31;
    auto codes = quantizeBias(bias, input->scale.front(), weight->scale,
        { .beta = mark.beta, .noneForBetaZero = newer, .wideScales = newer });
    if (!codes) {
        Issue issue = std::move(codes).issue();
        issue.node = mark.node;
        issue.tensor = mark.bias;
        return issue;
    }
    const std::string stem = mark.bias + tails::kCodes;
    const ParamNames names { stem + tails::kScale, stem + tails::kZeroPoint };
    const auto channels = static_cast<int64_t>(codes->scale.size());
    QuantParams params { DType::Int32, codes->scale, std::vector<int32_t>(codes->scale.size(), 0), std::nullopt, 0 };
    if (channels > 1)
        params.axis = 0;
    m_draft.setConstant(names.scale, realTensor(codes->real, { channels }, codes->scale));
    m_draft.setConstant(
        names.zeroPoint, codeTensor(DType::Int32, channels > 1 ? Shape { channels } : Shape {}, params.zeroPoint));
    const Tensor kept = keptBias(m_model, mark.bias, mark.weight, bias, params);
    if (codes->saturated && !kept.valid())
        m_model.warnings.push_back("the bias '" + mark.bias + "' does not fit 32 bits and is cut");
    m_draft.setConstant(stem, kept.valid() ? kept : codes->codes);
    m_draft.removeConstant(mark.bias);
    if (codes->real == bias.dtype()) {
        addDequantize(mark.bias + tails::kDequantize, stem, mark.bias, names, params);
        return {};
    }
    const std::string wide = mark.bias + tails::kDequantizeOutput;
    DraftNode cast { NodeId(), mark.bias + "_Cast", "Cast", "", { wide }, { mark.bias }, {} };
    cast.attributes.set("to", static_cast<int64_t>(bias.dtype()));
    m_draft.nodes.push_back(std::move(cast));
    addDequantize(mark.bias + tails::kDequantize, stem, wide, names, params);
    return {};
}

/// Beside float8 weights biases stay real.
void QdqWriter::realBias(const BiasMark& mark)
{
    const Tensor bias = *m_draft.constant(mark.bias);
    const std::string stem = mark.bias + tails::kCodes;
    m_draft.setConstant(stem, realTensor(DType::Float32, bias.shape(), toFloats(bias)));
    if (m_recipe.pairsForWeights) { // ONNX Runtime leaves these behind where it removes nothing
        m_draft.setConstant(stem + tails::kScale, Tensor::of<float>({ 1 }, { 1.0f }));
        m_draft.setConstant(
            stem + tails::kZeroPoint, codeTensor(m_recipe.weightType, { 1 }, std::vector<int32_t> { 0 }));
    }
    m_draft.removeConstant(mark.bias);
    DraftNode cast { NodeId(), mark.bias + tails::kDequantize, "Cast", "", { stem }, { mark.bias }, {} };
    cast.attributes.set("to", static_cast<int64_t>(bias.dtype()));
    m_draft.nodes.push_back(std::move(cast));
}

Status QdqWriter::tensor(const std::string& name)
{
    if (stopAsked())
        return cancelled();
    const NamedParams original = m_parameters.original(name);
    if (!original.params)
        return Issue { IssueKind::BadInput,
            "should share parameters with '" + original.holder + "', which is not quantized", {}, {}, name,
            "exclude the node that makes it" };
    if (m_marks.isConstant(name))
        return constantTensor(name, *original.params);
    activationTensor(name, original);
    return {};
}

Status QdqWriter::write()
{
    if (const std::string domain = pairDomain(m_model.draft, m_recipe); !domain.empty())
        m_draft.opsets.emplace(domain, 1); // also where there are no pairs in the end
    for (const std::string& name : m_marks.order())
        if (m_marks.of(name).provider.empty())
            QS_CHECK(tensor(name));
    for (const std::string& name : m_marks.order())
        if (!m_marks.of(name).provider.empty())
            QS_CHECK(tensor(name));
    if (m_recipe.quantizeBias)
        for (const BiasMark& mark : m_marks.biases())
            QS_CHECK(biasTensor(mark));
    keepFloatBiases(m_model);
    std::vector<DraftNode> kept;
    for (size_t n = 0; n < m_draft.nodes.size(); ++n)
        if (!m_marks.removed().contains(n))
            kept.push_back(std::move(m_draft.nodes[n]));
    m_draft.nodes = std::move(kept);
    if (!m_recipe.pairsForWeights)
        m_draft.dropUnusedConstants();
    return {};
}

} // namespace

Status writeQdq(FloatModel& model, const QdqMarks& marks, const QdqParameters& parameters)
{
    return QdqWriter(model, marks, parameters).write();
}

} // namespace qs
