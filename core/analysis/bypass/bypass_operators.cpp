// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/bypass/bypass.h"
#include "core/analysis/bypass/bypass_builder.h"

#include "core/graph/domains.h"
#include "core/qdq/qlinear_signature.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <string_view>

/// Operators on codes become the float operators that they stand for.
namespace qs {

namespace {

constexpr int64_t kSoftmaxByAxis = 13; ///< opset from which Softmax means the axis alone

bool isOwn(const Node& node, std::string_view type) { return node.is(type, kMicrosoftDomain); }

} // namespace

bool BypassBuilder::bypassOperator(size_t at, const Node& node)
{
    if (node.is("ConvInteger") || node.is("MatMulInteger"))
        return bypassSums(at, node);
    if (isOwn(node, "DynamicQuantizeMatMul"))
        return bypassProduct(at, node, 4);
    if (isOwn(node, "MatMulIntegerToFloat"))
        return bypassProduct(at, node, 6);
    if (isOwn(node, "MatMulNBits") || isOwn(node, "MatMulBnb4") || isOwn(node, "MatMulFpQ4")
        || isOwn(node, "GatherBlockQuantized"))
        return bypassBlocks(at, node);
    if (isOwn(node, "DynamicQuantizeLSTM"))
        return bypassRecurrent(at, node);
    if (isOwn(node, "QMoE"))
        return bypassExperts(at, node);
    if (isOwn(node, "GroupQueryAttention"))
        return bypassCache(at, node);
    if (isOwn(node, "QAttention"))
        return bypassAttention(at, node);
    if (isOwn(node, "QEmbedLayerNormalization"))
        return bypassEmbedding(at, node);
    if (node.is("Pad"))
        return bypassPad(at, node);
    if (keepsParams(node))
        return bypassMovedCodes(at, node);
    return qlinearSignature(node) ? bypassQLinear(at, node) : true;
}

std::optional<std::string> BypassBuilder::floatInput(const Node& node, int slot)
{
    if (slot < 0 || !node.hasInput(size_t(slot)))
        return std::nullopt;
    const ValueId codes = node.inputs[size_t(slot)];
    const auto index = m_pair.quantView->ofQuantized(codes);
    if (!index)
        return std::nullopt;
    const Quantizer& q = quantizer(*index);
    if (q.role != QuantRole::Activation)
        return constantFor(*index);
    return q.dynamic && q.real.valid() ? nameOf(q.real) : nameOf(codes);
}

std::optional<std::string> BypassBuilder::tableInput(const Node& node, const CodeOperand& operand)
{
    const auto constant = [&](int slot) {
        return slot >= 0 && node.hasInput(size_t(slot)) ? m_plan.constant(node.inputs[size_t(slot)]) : nullptr;
    };
    const Tensor* scale = constant(operand.scale);
    if (!scale || !node.hasInput(size_t(operand.codes)))
        return std::nullopt;
    QuantParams params;
    params.scale = toFloats(*scale);
    params.zeroPoint.assign(params.scale.size(), 0);
    if (const Tensor* zero = constant(operand.zeroPoint); zero && zero->count() == 1)
        params.zeroPoint[0] = int32_t(toInts(*zero)[0]);
    const std::string& name = nameOf(node.inputs[size_t(operand.codes)]);
    if (!bypassTable(node.inputs[size_t(operand.codes)], params, DType::Float32) || !m_draft.types.contains(name))
        return std::nullopt;
    return name;
}

std::string BypassBuilder::plainInput(const Node& node, size_t slot) const
{
    return node.hasInput(slot) ? nameOf(node.inputs[slot]) : std::string();
}

void BypassBuilder::computeFloat(
    size_t at, const std::string& type, const std::string& domain, std::vector<std::string> inputs)
{
    DraftNode& node = m_draft.nodes[at];
    node.opType = type;
    node.domain = domain;
    node.attributesChanged = true;
    node.inputs = std::move(inputs);
}

bool BypassBuilder::bypassQLinear(size_t at, const Node& node)
{
    const QLinearSignature signature = *qlinearSignature(node);
    if (node.opType == "QLinearSoftmax" && !isSoftmaxByAxis(node))
        return refuse(node, "of an opset before 13 takes several axes together");
    std::vector<std::string> inputs;
    if (node.opType == "QLinearWhere")
        inputs.push_back(plainInput(node, 0));
    for (const CodeOperand& operand : signature.inputs) {
        auto name = floatInput(node, operand.codes);
        if (!name)
            name = tableInput(node, operand);
        if (!name)
            return refuse(node, "reads codes that no quantizer made");
        inputs.push_back(*name);
    }
    if (signature.bias >= 0 && node.hasInput(size_t(signature.bias))) {
        const auto bias = floatInput(node, signature.bias);
        if (!bias)
            return false;
        inputs.push_back(*bias);
    }
    computeFloat(at, floatOpType(node), {}, std::move(inputs));
    if (node.attributes.integer("channels_last", 0) != 0) {
        const auto dims = m_plan.facts().of(node.outputs[0]).dims;
        if (!dims)
            return refuse(node, "has its channels last, and a size that is not known");
        channelsFirst(at, 0, dims->size());
    }
    bound(at, node);
    return true;
}

/// What codes are padded with is a code, too.
bool BypassBuilder::bypassPad(size_t at, const Node& node)
{
    constexpr size_t kFiller = 2;
    const auto index = m_pair.quantView->ofQuantized(node.outputs[0]);
    const NodeId self = m_plan.graph().value(node.outputs[0]).producer;
    if (!index || quantizer(*index).quantize != self || node.attributes.text("mode", "constant") != "constant")
        return true;
    const QuantParams& params = quantizer(*index).params;
    const bool given = node.hasInput(kFiller);
    const Tensor* filler = given ? m_plan.constant(node.inputs[kFiller]) : nullptr;
    if (params.scale.size() != 1 || (given && (!filler || filler->count() != 1)))
        return refuse(node, "pads codes with what is not known");
    const Tensor code = filler ? *filler : Tensor::of<int32_t>({}, { 0 });
    const std::string name = nameOf(node.outputs[0]) + "_filler";
    m_draft.setConstant(name, Tensor::of<float>({}, dequantized(code, params)));
    std::vector<std::string>& inputs = m_draft.nodes[at].inputs;
    inputs.resize(std::max(inputs.size(), kFiller + 1));
    inputs[kFiller] = name;
    return true;
}

/// The activation that the operator's output range stands for.
void BypassBuilder::bound(size_t at, const Node& node)
{
    const auto index = m_pair.quantView->ofQuantized(node.outputs[0]);
    const PairActivation bounds = index ? activationOf(*index) : PairActivation {};
    if (!bounds.bounded())
        return;
    const std::string value = m_draft.nodes[at].outputs[0]; // before what turns it back, where channels are last
    const std::string inner = unboundedName(value);
    m_draft.nodes[at].outputs[0] = inner;
    DraftNode clip;
    clip.name = value + "_bounds";
    setBounds(clip, value, inner, bounds);
    m_draft.nodes.push_back(std::move(clip));
}

/// Sums of codes become the float product, and what scaled them passes it on.
bool BypassBuilder::bypassSums(size_t at, const Node& node)
{
    const ValueId scaled = m_pair.quantView->scaledSums(node.outputs[0]);
    const auto data = floatInput(node, 0), weight = floatInput(node, 1);
    if (!scaled.valid() || !data || !weight)
        return false;
    computeFloat(at, floatOpType(node), {}, { *data, *weight });
    return become(nameOf(scaled), nameOf(node.outputs[0]), PairActivation {});
}

/// It takes the last axis alone, as every opset does then, or says that its axis is one.
bool BypassBuilder::isSoftmaxByAxis(const Node& node) const
{
    const auto dims = m_plan.facts().of(node.outputs[0]).dims;
    const int64_t axis = node.attributes.integer("axis", -1);
    return node.attributes.integer("opset", kSoftmaxByAxis) >= kSoftmaxByAxis || axis == -1
        || (dims && axis == int64_t(dims->size()) - 1);
}

/// The node computes with channels in front, between two Transpose.
void BypassBuilder::channelsFirst(size_t at, size_t slot, size_t rank)
{
    std::vector<int64_t> toFront { 0, int64_t(rank) - 1 }, toBack { 0 };
    for (size_t axis = 1; axis + 1 < rank; ++axis)
        toFront.push_back(int64_t(axis));
    for (size_t axis = 2; axis < rank; ++axis)
        toBack.push_back(int64_t(axis));
    toBack.push_back(1);
    const auto transpose = [&](const std::string& from, const std::string& to, const std::vector<int64_t>& order) {
        DraftNode node;
        node.name = to + "_transpose";
        node.opType = "Transpose";
        node.attributes.set("perm", order);
        node.inputs = { from };
        node.outputs = { to };
        m_draft.nodes.push_back(std::move(node));
    };
    const std::string value = m_draft.nodes[at].outputs[0];
    transpose(m_draft.nodes[at].inputs[slot], value + "_channels_first_input", toFront);
    m_draft.nodes[at].inputs[slot] = value + "_channels_first_input";
    transpose(value + "_channels_first", value, toBack);
    m_draft.nodes[at].outputs[0] = value + "_channels_first";
    m_draft.nodes[at].attributes.set("channels_last", int64_t(0));
}

void BypassBuilder::addBehind(size_t at, const std::string& constant)
{
    if (constant.empty())
        return;
    const std::string value = m_draft.nodes[at].outputs[0];
    m_draft.nodes[at].outputs[0] = value + "_product";
    m_draft.nodes.push_back(
        { NodeId(), value + "_bias", "Add", {}, { value + "_product", constant }, { value }, {}, false, NodeId() });
}

/// A product with codes of a constant that gives floats, of floats or of codes.
bool BypassBuilder::bypassProduct(size_t at, const Node& node, size_t biasSlot)
{
    const bool reads = node.hasInput(0);
    const auto codes = floatInput(node, 0), weight = floatInput(node, 1);
    if (!reads || !weight || (isOwn(node, "MatMulIntegerToFloat") && !codes))
        return false;
    computeFloat(at, "MatMul", {}, { codes ? *codes : plainInput(node, 0), *weight });
    m_draft.nodes[at].attributes = {};
    addBehind(at, plainInput(node, biasSlot));
    return true;
}

bool BypassBuilder::bypassAttention(size_t at, const Node& node)
{
    const auto data = floatInput(node, 0), weight = floatInput(node, 1);
    if (!data || !weight)
        return false;
    // Mask and past stand in other slots.
    computeFloat(at, "Attention", kMicrosoftDomain,
        { *data, *weight, plainInput(node, 2), plainInput(node, 5), plainInput(node, 8) });
    return true;
}

/// Codes that are moved before they are dequantized: of a table, or those whose scale is found while the model runs.
bool BypassBuilder::bypassMovedCodes(size_t at, const Node& node)
{
    const auto index = node.hasInput(0) ? m_pair.quantView->ofQuantized(node.inputs[0]) : std::nullopt;
    if (index && quantizer(*index).role == QuantRole::Activation && quantizer(*index).dynamic
        && quantizer(*index).real.valid())
        m_draft.nodes[at].inputs[0] = nameOf(quantizer(*index).real);
    if (!index || quantizer(*index).role != QuantRole::Weight || !quantizer(*index).dequantize.empty())
        return true;
    const auto table = constantFor(*index);
    if (table)
        m_draft.nodes[at].inputs[0] = *table;
    return table.has_value();
}

bool BypassBuilder::bypassEmbedding(size_t at, const Node& node)
{
    constexpr int kFirstTable = 2, kLastTable = 6, kMask = 7;
    std::vector<std::string> inputs { plainInput(node, 0), plainInput(node, 1) };
    for (int slot = kFirstTable; slot <= kLastTable; ++slot) {
        const auto table = floatInput(node, slot);
        if (!table && node.hasInput(size_t(slot)))
            return false;
        inputs.push_back(table.value_or(std::string()));
    }
    inputs.push_back(plainInput(node, kMask));
    computeFloat(at, "EmbedLayerNormalization", kMicrosoftDomain, std::move(inputs));
    return true;
}

} // namespace qs
