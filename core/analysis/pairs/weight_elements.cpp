// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/pairs/weight_elements.h"

#include "core/analysis/pairs/float_elements.h"
#include "core/match/graph/canonical.h"
#include "core/qdq/qlinear_signature.h"
#include "core/tensor/convert.h"

#include <algorithm>

namespace qs {

Tensor floatElements(const Tensor& constant, const WeightPair& pair)
{
    const Tensor plain = toPlain(constant);
    if (!pair.places)
        return plain.dtype() == DType::Float32 ? plain : Tensor::of<float>(plain.shape(), toFloats(plain));
    const std::vector<float> all = toFloats(plain);
    std::vector<float> own;
    own.reserve(pair.places->floats.size());
    for (const uint32_t place : pair.places->floats)
        own.push_back(all[place]);
    return Tensor::of<float>(pair.places->shape, own);
}

std::vector<float> storedElements(const Tensor& codes, const QuantParams& params, const WeightPair& pair)
{
    auto stored = dequantized(codes, params);
    if (pair.transposed && codes.rank() == 2)
        return toFloats(exchangedAxes(Tensor::of<float>(codes.shape(), stored)));
    if (!pair.places)
        return stored;
    std::vector<float> own;
    own.reserve(pair.places->codes.size());
    for (const uint32_t place : pair.places->codes)
        own.push_back(stored[place]);
    return own;
}

QuantParams paramsRead(const ComparePair& pair, uint32_t quantizer, NodeId quantNode)
{
    const Quantizer& q = pair.quantView->quantizers()[quantizer];
    QuantParams params = q.params;
    if (q.role != QuantRole::Bias || !q.dequantize.empty() || !quantNode.valid())
        return params;
    const Node& node = pair.quantPlan->graph().node(quantNode);
    const auto signature = qlinearSignature(node);
    if (!signature || signature->bias < 0 || !node.hasInput(size_t(signature->bias))
        || node.inputs[size_t(signature->bias)] != q.codes)
        return params;
    const auto scaleOf = [&](size_t operand) {
        return pair.quantPlan->constant(node.inputs[size_t(signature->inputs[operand].scale)]);
    };
    const Tensor *input = scaleOf(0), *weight = scaleOf(1);
    if (!input || !weight || input->count() != 1 || weight->count() < 1)
        return params;
    params.scale = toFloats(*weight);
    for (float& scale : params.scale)
        scale *= toFloats(*input)[0];
    params.zeroPoint.assign(params.scale.size(), 0);
    params.axis = params.scale.size() > 1 ? std::optional<int64_t>(0) : std::nullopt;
    return params;
}

bool takesBias(const Node& node) { return node.is("Conv") || node.is("ConvTranspose") || node.is("Gemm"); }

int64_t outputAxis(const Node& node, ValueId weight, const Shape& shape, bool bias)
{
    const auto last = int64_t(shape.size()) - 1;
    if (bias || shape.size() < 2)
        return std::max<int64_t>(last, 0);
    const auto slot = std::ranges::find(node.inputs, weight) - node.inputs.begin();
    const std::string type = floatOpType(node);
    if (type == "ConvTranspose" || type == "LSTM" || type == "GRU" || type == "RNN")
        return 1;
    if (type == "Gemm")
        return slot == 0 ? int64_t(node.attributes.integer("transA", 0) != 0)
                         : int64_t(node.attributes.integer("transB", 0) == 0);
    if (type == "MatMul")
        return slot == 0 ? last - 1 : last;
    if (type == "Attention")
        return last;
    return 0;
}

bool addsVector(const std::string& opType, const Shape& constant)
{
    return opType == "Add" && std::ranges::count_if(constant, [](int64_t size) { return size != 1; }) <= 1;
}

bool isBias(const ComparePair& pair, const WeightPair& weight)
{
    constexpr size_t kSlot = 2;
    if (pair.quantView->quantizers()[weight.quantizer].role == QuantRole::Bias)
        return true;
    const Node& node = pair.floatPlan->graph().node(weight.floatNode);
    return takesBias(node) && node.hasInput(kSlot) && node.inputs[kSlot] == weight.floatValue;
}

} // namespace qs
