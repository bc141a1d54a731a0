// SPDX-License-Identifier: GPL-3.0-or-later
// Weights and biases of a patched file.
#include "core/analysis/pairs/float_elements.h"
#include "core/analysis/pairs/weight_elements.h"
#include "core/match/graph/canonical.h"
#include "core/project/mend/file_patch.h"
#include "core/qdq/code_readers.h"
#include "core/qdq/qlinear_signature.h"
#include "core/quant/params/weights.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr double kOnGrid = 0.01; ///< relative: the bias' scale was input scale x weight scale
constexpr int64_t kChannelsFrom = 13; ///< opset from which a DequantizeLinear has scales along an axis

std::vector<float> products(const QuantParams& input, const QuantParams& weight)
{
    std::vector<float> scales = weight.scale;
    for (float& s : scales)
        s *= input.scale[0];
    return scales;
}

/// Sum of squares.
double distance(const Tensor& a, const Tensor& b)
{
    const std::vector<float> x = toFloats(a), y = toFloats(b);
    double sum = 0;
    for (size_t i = 0; i < x.size(); ++i)
        sum += (double(x[i]) - y[i]) * (double(x[i]) - y[i]);
    return sum;
}

bool areClose(const std::vector<float>& a, const std::vector<float>& b)
{
    for (size_t i = 0; i < std::max(a.size(), b.size()); ++i)
        if (std::abs(double(a[std::min(i, a.size() - 1)]) / double(b[std::min(i, b.size() - 1)]) - 1) > kOnGrid)
            return false;
    return !a.empty() && !b.empty();
}

} // namespace

std::optional<Tensor> FilePatch::partner(uint32_t index) const
{
    const auto& weights = m_pair.alignment->weights;
    const auto pair = std::ranges::find(weights, index, &WeightPair::quantizer);
    const Tensor* value = pair == weights.end() ? nullptr : m_folded.of(*pair);
    const Tensor* codes = storedCodes(m_plan, quantizer(index));
    if (!value || value->dtype() != DType::Float32 || (codes && codes->count() != value->count()))
        return std::nullopt;
    if (pair->transposed && value->rank() == 2)
        return exchangedAxes(*value);
    if (codes && codes->shape() != value->shape())
        return Tensor::of<float>(codes->shape(), toFloats(*value));
    return *value;
}

std::optional<Tensor> FilePatch::dequantizedOf(uint32_t index) const
{
    const Tensor* codes = storedCodes(m_plan, quantizer(index));
    if (!codes)
        return std::nullopt;
    return Tensor::of<float>(codes->shape(), dequantized(*codes, quantizer(index).params));
}

Status FilePatch::requantize(uint32_t index, std::optional<int64_t> axis, bool reduced)
{
    if (!axis && !reduced && !blockReaders(index).empty())
        return requantizeBlocks(index, false);
    if (!isChangeable(index) || quantizer(index).role == QuantRole::Activation
        || !isInteger(quantizer(index).params.dtype))
        return refuse(index, "it is no constant with a DequantizeLinear of its own");
    if (m_bypassed.contains(index))
        return {}; // nothing is left of it
    const auto value = partner(index);
    if (!value)
        return refuse(index, "it has no partner in the float file");
    const auto& weights = m_pair.alignment->weights;
    const bool bias = isBias(m_pair, *std::ranges::find(weights, index, &WeightPair::quantizer));
    const bool stored = !quantizer(index).quantize.valid(); // as codes
    if (bias && stored)
        return setBias(index, *value);
    ScaleRules rules;
    rules.type = quantizer(index).params.dtype;
    rules.reduced = reduced && !quantizer(index).params.kept;
    rules.kept = quantizer(index).params.kept;
    return setWeight(index, *value, axis, rules);
}

Status FilePatch::widen(uint32_t index, int64_t axis)
{
    if (!blockReaders(index).empty())
        return requantizeBlocks(index, true);
    const Quantizer& q = quantizer(index);
    if (!isPair(index) || q.role == QuantRole::Activation || !isInteger(q.params.dtype) || q.quantize.valid()
        || q.params.blockSize > 0)
        return refuse(index, "it is no stored constant with a DequantizeLinear of its own");
    if (m_bypassed.contains(index))
        return {}; // nothing is left of it
    const auto value = partner(index);
    if (!value)
        return refuse(index, "it has no partner in the float file");
    ScaleRules rules;
    rules.type = isSigned(q.params.dtype) ? DType::Int8 : DType::UInt8;
    return setWeight(index, *value, axis, rules);
}

Status FilePatch::setWeight(uint32_t index, const Tensor& value, std::optional<int64_t> axis, ScaleRules rules)
{
    const Quantizer& q = quantizer(index);
    const auto& weights = m_pair.alignment->weights;
    const auto pair = std::ranges::find(weights, index, &WeightPair::quantizer);
    if (axis && pair->transposed && value.rank() == 2)
        axis = 1 - *axis;
    if (!axis)
        axis = q.params.axis;
    const auto all = places(index);
    const auto onCodes = std::ranges::find_if(
        all, [&](const Place& place) { return qlinearSignature(m_plan.graph().node(place.node)).has_value(); });
    if (axis && axis != q.params.axis && onCodes != all.end()
        && (*axis != 0 || m_plan.graph().node(onCodes->node).opType != "QLinearConv"))
        return refuse(index, "its operator has no scales along this axis");
    if (axis && onCodes == all.end() && m_draft.opsets[""] < kChannelsFrom)
        return refuse(index, "the file's operator set has no scales along an axis");
    rules.symmetric = isSigned(q.params.dtype) && std::ranges::all_of(q.params.zeroPoint, [](int32_t z) { return !z; });
    const auto found = weightParams(value, rules, axis);
    if (!found.ok())
        return refuse(index, found.issue().what);
    const std::string base = nameOf(q.shown()) + "_mended";
    const bool atRun = q.quantize.valid(); // codes are made by the file
    m_draft.setConstant(base, atRun ? value : weightCodes(value, *found));
    if (atRun) {
        setInput(m_draft.nodes[q.quantize.index()], 0, base);
    } else {
        setCodes(q, base, rules.kept.has_value());
    }
    return setParams(index, *found);
}

/// A Clip that leaves fewer codes stays where these are `kept`: it tells how many bits the weight has.
void FilePatch::setCodes(const Quantizer& q, const std::string& name, bool kept)
{
    const Graph& graph = m_plan.graph();
    const NodeId maker = kept && q.params.kept ? graph.value(q.codes).producer : NodeId();
    if (maker.valid() && graph.node(maker).is("Clip")) {
        setInput(m_draft.nodes[maker.index()], 0, name);
        return;
    }
    for (const Place& place : places(uint32_t(&q - m_pair.quantView->quantizers().data())))
        if (place.codes)
            setInput(m_draft.nodes[place.node.index()], *place.codes, name);
}

Status FilePatch::openClip(uint32_t index, int64_t low, int64_t high)
{
    constexpr size_t kBounds = 1; // input
    const Quantizer& q = quantizer(index);
    const NodeId clip = clipOfCodes(m_plan.graph(), q);
    if (!clip.valid())
        return refuse(index, "no Clip stands on its codes");
    const DType type = m_plan.facts().of(m_plan.graph().node(clip).outputs[0]).dtype;
    const std::string base = nameOf(q.shown()) + "_clip_";
    for (const bool upper : { false, true }) {
        const std::string name = base + (upper ? "high" : "low");
        m_draft.setConstant(name, codeTensor(type, {}, std::vector { int32_t(upper ? high : low) }));
        setInput(m_draft.nodes[clip.index()], kBounds + size_t(upper), name);
    }
    return {};
}

Status FilePatch::setBias(uint32_t index, const Tensor& value)
{
    const Quantizer& q = quantizer(index);
    for (const QuantUnit& unit : m_pair.quantView->units()) {
        if (std::ranges::find(unit.inputs, index) == unit.inputs.end())
            continue;
        const QuantParams *input = nullptr, *weight = nullptr;
        for (const uint32_t other : unit.inputs) {
            if (quantizer(other).role == QuantRole::Activation && !input)
                input = &params(other);
            if (quantizer(other).role == QuantRole::Weight && other != index && !weight)
                weight = &params(other);
        }
        if (!input || !weight || input->scale.size() != 1 || weight->scale.empty() || weight->blockSize > 0)
            break;
        const auto made = quantizeBias(value, input->scale[0], weight->scale);
        if (!made.ok())
            return refuse(index, made.issue().what);
        QuantParams next = q.params;
        next.dtype = DType::Int32; // fewer bits may not hold it
        next.kept.reset();
        next.scale = made->scale;
        next.zeroPoint.assign(next.scale.size(), 0);
        next.axis = next.scale.size() > 1 ? std::optional<int64_t>(0) : std::nullopt;
        const std::string base = nameOf(q.shown()) + "_mended";
        m_draft.setConstant(base, made->codes);
        setCodes(q, base, true);
        return setParams(index, next);
    }
    return refuse(index, "the scales of its layer are not known");
}

Status FilePatch::alignBias(const QuantUnit& unit)
{
    std::optional<uint32_t> input, weight, bias;
    for (const uint32_t q : unit.inputs) {
        auto& place = quantizer(q).role == QuantRole::Activation ? input
            : quantizer(q).role == QuantRole::Weight             ? weight
                                                                 : bias;
        if (!place)
            place = q;
    }
    if (!input || !weight || !bias || m_params.contains(*bias) || m_bypassed.contains(*bias)
        || (!m_params.contains(*input) && !m_params.contains(*weight)))
        return {};
    const QuantParams &in = quantizer(*input).params, &w = quantizer(*weight).params;
    if (in.scale.size() != 1 || !areClose(quantizer(*bias).params.scale, products(in, w)))
        return {}; // it has a scale of its own
    auto value = dequantizedOf(*bias); // what was corrected in it stays
    if (value)
        value = alignedBias(*bias, std::move(*value), products(params(*input), params(*weight)));
    else
        value = partner(*bias);
    return value && isChangeable(*bias) ? setBias(*bias, *value) : Status {};
}

/// Its codes may have been right, and a scale of the layer alone wrong: then they are what stays.
Tensor FilePatch::alignedBias(uint32_t bias, Tensor stored, const std::vector<float>& scales) const
{
    const auto own = partner(bias);
    const Tensor* codes = storedCodes(m_plan, quantizer(bias));
    if (!own || !codes || own->count() != stored.count())
        return stored;
    QuantParams next = quantizer(bias).params;
    next.scale = scales;
    next.zeroPoint.assign(scales.size(), 0);
    next.axis = scales.size() > 1 ? std::optional<int64_t>(0) : std::nullopt;
    Tensor kept = Tensor::of<float>(codes->shape(), dequantized(*codes, next));
    return distance(kept, *own) < distance(stored, *own) ? kept : stored;
}

} // namespace qs
