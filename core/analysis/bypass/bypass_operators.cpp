// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/bypass/bypass_builder.h"

#include "core/graph/domains.h"
#include "core/qdq/qlinear_signature.h"

#include <algorithm>
#include <array>
#include <string_view>

/// Operators on codes become the float operators that they stand for.
namespace qs {

namespace {

constexpr int64_t kSoftmaxByAxis = 13; ///< opset from which Softmax means the axis alone
/// Of com.microsoft: they quantize inside, and have no float counterpart here.
constexpr std::array<std::string_view, 4> kQuantizeInside { "DynamicQuantizeLSTM", "MatMulBnb4", "MatMulFpQ4", "QMoE" };

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
    if (isOwn(node, "MatMulNBits") || isOwn(node, "GatherBlockQuantized"))
        return bypassBlocks(at, node);
    if (isOwn(node, "QAttention"))
        return bypassAttention(at, node);
    if (isOwn(node, "QEmbedLayerNormalization"))
        return bypassEmbedding(at, node);
    if (node.domain == kMicrosoftDomain && std::ranges::find(kQuantizeInside, node.opType) != kQuantizeInside.end())
        return false;
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
    return q.dynamic ? nameOf(q.real) : nameOf(codes);
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
    if (node.attributes.integer("channels_last", 0) != 0
        || (node.opType == "QLinearSoftmax" && node.attributes.integer("opset", kSoftmaxByAxis) < kSoftmaxByAxis))
        return false;
    std::vector<std::string> inputs;
    if (node.opType == "QLinearWhere")
        inputs.push_back(plainInput(node, 0));
    for (const CodeOperand& operand : signature.inputs) {
        const auto name = floatInput(node, operand.codes);
        if (!name)
            return false;
        inputs.push_back(*name);
    }
    if (signature.bias >= 0 && node.hasInput(size_t(signature.bias))) {
        const auto bias = floatInput(node, signature.bias);
        if (!bias)
            return false;
        inputs.push_back(*bias);
    }
    computeFloat(at, floatOpType(node), {}, std::move(inputs));
    bound(at, node);
    return true;
}

/// The activation that the operator's output range stands for.
void BypassBuilder::bound(size_t at, const Node& node)
{
    const auto index = m_pair.quantView->ofQuantized(node.outputs[0]);
    const PairActivation bounds = index ? activationOf(*index) : PairActivation {};
    if (!bounds.bounded())
        return;
    const std::string value = nameOf(node.outputs[0]), inner = value + "_unbounded";
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

/// A weight in blocks: rows and columns of a product's lie the other way round.
bool BypassBuilder::bypassBlocks(size_t at, const Node& node)
{
    const bool product = node.opType == "MatMulNBits";
    const auto weight = floatInput(node, product ? 1 : 0);
    if (!weight || !node.hasInput(product ? 0 : 1) || (product && node.hasInput(4)))
        return false;
    Attributes attributes;
    if (product) {
        const std::string columns = *weight + "_columns";
        if (!m_draft.constant(columns))
            m_draft.setConstant(columns, exchangedAxes(*m_draft.constant(*weight)));
        computeFloat(at, "MatMul", {}, { plainInput(node, 0), columns });
    } else {
        computeFloat(at, "Gather", {}, { *weight, plainInput(node, 1) });
        attributes.set("axis", node.attributes.integer("gather_axis", 0));
    }
    m_draft.nodes[at].attributes = std::move(attributes);
    if (product)
        addBehind(at, plainInput(node, 5));
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
