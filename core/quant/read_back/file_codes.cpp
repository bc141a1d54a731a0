// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/read_back/file_codes.h"

#include "core/engine/plan/plan.h"
#include "core/qdq/qlinear_signature.h"
#include "core/quant/read_back/quantizer_differences.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace qs {

namespace {

/// Constants of a file: those that it stores, and those that nodes compute.
class FileConstants {
public:
    explicit FileConstants(std::shared_ptr<const Model> file)
        : m_file(std::move(file))
    {
    }
    const Graph& graph() const { return m_file->graph; }
    /// Null where it is none.
    const Tensor* find(ValueId id)
    {
        if (!id.valid())
            return nullptr;
        if (const auto& stored = graph().value(id).initializer)
            return &*stored;
        m_plan = m_plan ? m_plan : Plan::make(m_file);
        return m_plan->constant(id);
    }

private:
    std::shared_ptr<const Model> m_file;
    std::shared_ptr<const Plan> m_plan; ///< null until it is needed
};

/// The quantizer's parameters in the constant's own layout.
QuantParams storedParams(const FileTensor& tensor)
{
    QuantParams params = tensor.params;
    if (tensor.exchanged && params.axis && params.blockSize == 0)
        params.axis = 1 - *params.axis;
    return params;
}

std::vector<float> scaleIn(FileConstants& file, const Node& node, size_t slot)
{
    const Tensor* scale = node.hasInput(slot) ? file.find(node.inputs[slot]) : nullptr;
    return scale && isFloat(scale->dtype()) ? toFloats(*scale) : std::vector<float>();
}

/// What the node that dequantizes an int32 bias reads as its scale, or those of the sums that it is added to; empty
/// where there is none, or several.
std::vector<float> biasScale(FileConstants& file, ValueId codes)
{
    constexpr size_t kInputScale = 1, kWeightScale = 4, kBiasCodes = 8; // of QLinearConv
    const auto& uses = file.graph().value(codes).uses;
    if (uses.size() != 1 || !uses[0].node.valid())
        return {};
    const Node& node = file.graph().node(uses[0].node);
    if (isDequantizeLinear(node) && uses[0].slot == 0)
        return scaleIn(file, node, 1);
    if (!node.is("QLinearConv") || uses[0].slot != kBiasCodes)
        return {};
    const std::vector<float> input = scaleIn(file, node, kInputScale);
    std::vector<float> scales = input.size() == 1 ? scaleIn(file, node, kWeightScale) : std::vector<float>();
    for (float& scale : scales)
        scale *= input.front();
    return scales;
}

/// The product that reads these codes of a weight, through what turns them to floats; null: none, or several.
const Node* productBehind(const Graph& graph, ValueId id)
{
    const auto& uses = graph.value(id).uses;
    if (uses.size() != 1)
        return nullptr;
    const Node& node = graph.node(uses[0].node);
    if (node.is("Conv") || node.is("ConvTranspose") || node.is("Gemm"))
        return uses[0].slot == 1 ? &node : nullptr;
    const bool passes = isDequantizeLinear(node) || node.is("Transpose") || node.is("Identity");
    return passes && uses[0].slot == 0 && node.outputs[0].valid() ? productBehind(graph, node.outputs[0]) : nullptr;
}

/// It stands in the file as it is, not as codes of it.
bool isStored(const Graph& graph, ValueId id)
{
    const Value& value = graph.value(id);
    return value.initializer || (value.producer.valid() && graph.node(value.producer).is("Constant"));
}

/// What reads the product in the file reads the float node, too, or is its quantizer: nothing else (a normalization
/// that training left beside it) adds to the bias.
bool sameReaders(const Graph& graph, const Node& product, const GraphDraft& floatModel, const DraftNode& node)
{
    const auto& uses = graph.value(product.outputs[0]).uses;
    return std::ranges::all_of(uses, [&](const Use& use) {
        const Node& reader = graph.node(use.node);
        return isQuantizeLinear(reader) || std::ranges::any_of(floatModel.nodes, [&](const DraftNode& other) {
            return other.opType == reader.opType
                && std::ranges::find(other.inputs, node.outputs[0]) != other.inputs.end();
        });
    });
}

bool isRounded(const std::vector<float>& values, const std::vector<int64_t>& codes, const std::vector<float>& scale)
{
    constexpr double kStep = 0.6; // half of one, and what another order of operations makes
    for (size_t i = 0; i < values.size(); ++i)
        if (!(std::fabs(double(values[i]) / scale[scale.size() > 1 ? i : 0] - double(codes[i])) <= kStep))
            return false;
    return true;
}

/// One that the file has as codes of its own parameters: they are other values than rounding the float model's gives.
void addBiasCodes(
    FileConstants& file, const FileTensor& codes, const DraftNode& node, const GraphDraft& floatModel, FileCodes& found)
{
    const std::string& name = node.inputs[2];
    const Tensor* ours = floatModel.constant(name);
    if (!ours || codes.codesName.empty() || codes.codes.dtype() != DType::Int32 || codes.codes.shape() != ours->shape())
        return;
    const QuantParams params = biasParams(biasScale(file, file.graph().findValue(codes.codesName)));
    if (const auto size = params.scale.size(); size != 1 && size != size_t(ours->count()))
        return;
    if (!isRounded(toFloats(*ours), toInts(codes.codes), params.scale))
        found.constants[name] = { codes.codesName, codesKey(*ours, params, codes.codes) };
}

/// The bias beside a weight that training changed was changed with it.
void addFloatBias(FileConstants& file, const std::string& codes, const DraftNode& node, const GraphDraft& floatModel,
    FileCodes& found)
{
    const ValueId id = file.graph().findValue(codes);
    const Node* product = id.valid() ? productBehind(file.graph(), id) : nullptr;
    if (!product || !product->hasInput(2) || !sameReaders(file.graph(), *product, floatModel, node))
        return;
    const Tensor* ours = floatModel.constant(node.inputs[2]);
    const Tensor* theirs = isStored(file.graph(), product->inputs[2]) ? file.find(product->inputs[2]) : nullptr;
    if (!ours || !theirs || theirs->dtype() != ours->dtype() || theirs->shape() != ours->shape()
        || toFloats(*theirs) == toFloats(*ours))
        return;
    found.constants[node.inputs[2]]
        = { file.graph().value(product->inputs[2]).name, codesKey(*ours, { ours->dtype(), {}, {}, {}, 0 }, *theirs) };
}

} // namespace

FileCodes fileCodes(const QuantizedFile& file, const QuantizedFile& made, const GraphDraft& floatModel)
{
    FileCodes found;
    FileConstants constants(file.model);
    for (const std::string& name : quantizerDifferences(file, made).codes) {
        const FileTensor &theirs = *file.find(name), &ours = *made.find(name);
        const Tensor* constant = floatModel.constant(name);
        if (!constant || theirs.codesName.empty())
            continue;
        const Tensor codes = codesLike(*constant, theirs.codes, theirs.exchanged != ours.exchanged);
        if (!codes.valid())
            continue;
        found.constants[name] = { theirs.codesName, codesKey(*constant, storedParams(ours), codes) };
        for (const DraftNode& node : floatModel.nodes) {
            const bool reads = node.inputs.size() > 2 && node.inputs[1] == name && !node.inputs[2].empty();
            const FileTensor* bias = reads ? file.find(node.inputs[2]) : nullptr;
            const FileTensor* madeBias = bias ? made.find(node.inputs[2]) : nullptr;
            if (reads && !bias)
                addFloatBias(constants, theirs.codesName, node, floatModel, found);
            else if (bias && !(madeBias && sameParameters(bias->params, madeBias->params)))
                addBiasCodes(constants, *bias, node, floatModel, found);
        }
    }
    if (!found.constants.empty())
        found.file = file.model->path;
    return found;
}

Result<KeptCodes> readCodes(const std::shared_ptr<const Model>& file, const FileCodes& wanted)
{
    KeptCodes codes;
    FileConstants constants(file);
    for (const auto& [name, constant] : wanted.constants) {
        const Tensor* tensor = constants.find(file->graph.findValue(constant.value));
        if (!tensor)
            return Issue { IssueKind::BadInput,
                "has no constant '" + constant.value + "', which the recipe takes the codes of '" + name + "' from",
                file->path, {}, {}, "give the file that the recipe was read from, or leave codes out of the recipe" };
        codes[name] = { *tensor, constant.key };
        if (tensor->dtype() == DType::Int32)
            codes[name].scale = biasScale(constants, file->graph.findValue(constant.value));
    }
    return codes;
}

} // namespace qs
