// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/bypass/bypass_builder.h"

#include "core/analysis/pairs/float_elements.h"
#include "core/match/canonical.h"
#include "core/qdq/qlinear_signature.h"

#include <algorithm>
#include <limits>

namespace qs {

namespace {

constexpr int64_t kClipByInputs = 11; ///< opset from which Clip takes its bounds as inputs

} // namespace

BypassBuilder::BypassBuilder(const ComparePair& pair, const std::vector<PairPlan>& pairs, Weights weights)
    : m_pair(pair)
    , m_plan(pair.writtenPlan ? *pair.writtenPlan : *pair.quantPlan)
    , m_weights(weights)
    , m_folded(weights == Weights::Stored ? FoldedConstants(pair.floatPlan) : FoldedConstants(pair)) // not read then
    , m_draft(std::make_shared<const Model>(m_plan.model()))
{
    for (const PairPlan& p : pairs)
        if (p.pair.quantizer && p.ownQuantizer)
            m_activations[*p.pair.quantizer] = p.activation;
    for (size_t i = 0; i < m_draft.nodes.size(); ++i)
        for (const std::string& out : m_draft.nodes[i].outputs)
            m_makers[out] = i;
}

std::optional<GraphDraft> BypassBuilder::make()
{
    const auto& quantizers = m_pair.quantView->quantizers();
    for (uint32_t q = 0; q < quantizers.size(); ++q)
        if (!(quantizers[q].role == QuantRole::Activation ? bypassActivation(q) : bypassConstant(q)))
            return std::nullopt;
    const auto& nodes = m_plan.graph().nodes();
    const size_t count = m_draft.nodes.size();
    for (size_t i = 0; i < count; ++i) {
        const NodeId origin = m_draft.nodes[i].origin;
        if (origin.valid() && m_draft.nodes[i].opType == nodes[origin.index()].opType
            && !bypassOperator(i, nodes[origin.index()]))
            return std::nullopt;
    }
    for (uint32_t q = 0; q < quantizers.size(); ++q)
        if (quantizers[q].role != QuantRole::Activation && !m_taken.contains(q))
            return std::nullopt; // by an operator that is not known here
    declareFloats();
    return std::move(m_draft);
}

DraftNode* BypassBuilder::makerOf(const std::string& value)
{
    const auto it = m_makers.find(value);
    return it == m_makers.end() ? nullptr : &m_draft.nodes[it->second];
}

PairActivation BypassBuilder::activationOf(uint32_t q) const
{
    const auto it = m_activations.find(q);
    return it == m_activations.end() ? PairActivation {} : it->second;
}

bool BypassBuilder::bypassActivation(uint32_t index)
{
    const Quantizer& q = quantizer(index);
    if (q.dynamic)
        return q.real.valid(); // whoever reads the codes reads the real value
    const bool quantized = q.real.valid() && q.quantize.valid() && isQuantizeLinear(m_plan.graph().node(q.quantize));
    if (!quantized && !q.codes.valid())
        return false;
    const PairActivation activation = quantized ? activationOf(index) : PairActivation {};
    if (quantized && q.codes.valid() && !become(nameOf(q.codes), nameOf(q.real), activation))
        return false;
    const std::string& source = quantized ? nameOf(q.real) : nameOf(q.codes);
    return std::ranges::all_of(q.dequantize,
        [&](NodeId id) { return become(nameOf(m_plan.graph().node(id).outputs[0]), source, activation); });
}

bool BypassBuilder::bypassConstant(uint32_t index)
{
    const Quantizer& q = quantizer(index);
    if (q.dequantize.empty())
        return true; // its reader takes it
    const auto name = constantFor(index);
    return name && std::ranges::all_of(q.dequantize, [&](NodeId id) {
        return become(nameOf(m_plan.graph().node(id).outputs[0]), *name, PairActivation {});
    });
}

std::optional<std::string> BypassBuilder::constantFor(uint32_t index)
{
    m_taken.insert(index);
    const std::string name = nameOf(quantizer(index).shown()) + "_float";
    if (m_draft.constant(name))
        return name;
    auto value = valueFor(index);
    if (!value)
        return std::nullopt;
    m_draft.setConstant(name, std::move(*value));
    return name;
}

std::optional<Tensor> BypassBuilder::valueFor(uint32_t index)
{
    const Quantizer& q = quantizer(index);
    const Tensor* codes = storedCodes(m_plan, q);
    bool transposed = false;
    const Tensor* value = m_weights == Weights::Stored ? nullptr : floatPartner(index, transposed);
    if (value && value->dtype() == DType::Float32 && (!codes || codes->count() == value->count()))
        return transposed && value->rank() == 2 ? exchangedAxes(*value) : *value;
    if (!codes || q.params.scale.empty())
        return std::nullopt;
    ++m_own;
    return Tensor::of<float>(codes->shape(), dequantized(*codes, q.params));
}

/// The float model's constant, or the bias that folding gave a layer of the float file.
const Tensor* BypassBuilder::floatPartner(uint32_t index, bool& transposed) const
{
    const auto& weights = m_pair.alignment->weights;
    if (const auto partner = std::ranges::find(weights, index, &WeightPair::quantizer); partner != weights.end()) {
        transposed = partner->transposed;
        return m_folded.of(*partner);
    }
    if (quantizer(index).role != QuantRole::Bias || m_folded.empty())
        return nullptr;
    for (const QuantUnit& unit : m_pair.quantView->units())
        if (std::ranges::find(unit.inputs, index) != unit.inputs.end())
            for (const WeightPair& weight : weights)
                if (weight.quantNode == unit.node)
                    return m_folded.at(weight.floatNode, 2);
    return nullptr;
}

bool BypassBuilder::become(const std::string& value, const std::string& source, const PairActivation& bounds)
{
    DraftNode* node = makerOf(value);
    if (!node)
        return false;
    setBounds(*node, value, source, bounds);
    return true;
}

void BypassBuilder::setBounds(
    DraftNode& node, const std::string& value, const std::string& source, const PairActivation& bounds)
{
    node.opType = bounds.bounded() ? "Clip" : "Identity";
    node.domain.clear();
    node.attributes = {};
    node.attributesChanged = true;
    node.inputs = { source };
    node.outputs = { value };
    if (!bounds.bounded())
        return;
    if (m_draft.opsets[""] < kClipByInputs) {
        node.attributes.set("min", std::max(bounds.low, std::numeric_limits<float>::lowest()));
        node.attributes.set("max", std::min(bounds.high, std::numeric_limits<float>::max()));
        return;
    }
    node.inputs.insert(node.inputs.end(), { value + "_low", value + "_high" });
    m_draft.setConstant(value + "_low", Tensor::scalar(bounds.low));
    m_draft.setConstant(value + "_high", Tensor::scalar(bounds.high));
}

void BypassBuilder::declareFloats()
{
    const Graph& graph = m_plan.graph();
    for (size_t v = 0; v < graph.values().size(); ++v) {
        const Value& value = graph.values()[v];
        if (value.producer.valid() && isInteger(value.type.dtype) && m_pair.quantView->ofQuantized(ValueId(v)))
            m_draft.types[value.name] = { DType::Float32, value.type.dims, {} };
        else if (value.producer.valid() && m_pair.quantView->scaledSums(ValueId(v)).valid())
            m_draft.types[value.name] = { DType::Float32, value.type.dims, {} };
    }
}

} // namespace qs
