// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/bypass.h"

#include "core/analysis/folded_constants.h"
#include "core/graph/draft.h"
#include "core/match/canonical.h"
#include "core/qdq/qlinear_signature.h"

#include <algorithm>
#include <map>
#include <set>

namespace qs {

namespace {

constexpr int64_t kClipByInputs = 11; ///< opset from which Clip takes its bounds as inputs
constexpr int64_t kSoftmaxByAxis = 13; ///< opset from which Softmax means the axis alone

Tensor exchanged(const Tensor& t)
{
    Tensor out = Tensor::allocate(DType::Float32, { t.dim(1), t.dim(0) });
    const auto from = t.data<float>();
    const auto to = out.fill<float>();
    for (int64_t r = 0; r < t.dim(0); ++r)
        for (int64_t c = 0; c < t.dim(1); ++c)
            to[size_t(c * t.dim(0) + r)] = from[size_t(r * t.dim(1) + c)];
    return out;
}

class BypassBuilder {
public:
    BypassBuilder(const ComparePair& pair, const std::vector<PairPlan>& pairs)
        : m_pair(pair)
        , m_plan(pair.writtenPlan ? *pair.writtenPlan : *pair.quantPlan)
        , m_folded(pair)
        , m_draft(std::make_shared<const Model>(m_plan.model()))
    {
        for (const PairPlan& p : pairs)
            if (p.pair.quantizer && p.ownQuantizer)
                m_activations[*p.pair.quantizer] = p.activation;
        for (size_t i = 0; i < m_draft.nodes.size(); ++i)
            for (const std::string& out : m_draft.nodes[i].outputs)
                m_makers[out] = i;
    }

    std::optional<Bypassed> make()
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
        const auto model = m_draft.build();
        if (!model.ok())
            return std::nullopt;
        return Bypassed { Plan::make(*model), m_own };
    }

private:
    const std::string& nameOf(ValueId id) const { return m_plan.graph().value(id).name; }
    const Quantizer& quantizer(uint32_t q) const { return m_pair.quantView->quantizers()[q]; }

    DraftNode* makerOf(const std::string& value)
    {
        const auto it = m_makers.find(value);
        return it == m_makers.end() ? nullptr : &m_draft.nodes[it->second];
    }

    PairActivation activationOf(uint32_t q) const
    {
        const auto it = m_activations.find(q);
        return it == m_activations.end() ? PairActivation {} : it->second;
    }

    bool bypassActivation(uint32_t index)
    {
        const Quantizer& q = quantizer(index);
        if (q.dynamic)
            return q.real.valid(); // whoever reads the codes reads the real value
        const bool quantized
            = q.real.valid() && q.quantize.valid() && isQuantizeLinear(m_plan.graph().node(q.quantize));
        if (!quantized && !q.codes.valid())
            return false;
        const PairActivation activation = quantized ? activationOf(index) : PairActivation {};
        if (quantized && q.codes.valid() && !become(nameOf(q.codes), nameOf(q.real), activation))
            return false;
        const std::string& source = quantized ? nameOf(q.real) : nameOf(q.codes);
        return std::ranges::all_of(q.dequantize,
            [&](NodeId id) { return become(nameOf(m_plan.graph().node(id).outputs[0]), source, activation); });
    }

    bool bypassConstant(uint32_t index)
    {
        const Quantizer& q = quantizer(index);
        if (q.dequantize.empty())
            return true; // its reader takes it
        const auto name = constantFor(index);
        return name && std::ranges::all_of(q.dequantize, [&](NodeId id) {
            return become(nameOf(m_plan.graph().node(id).outputs[0]), *name, PairActivation {});
        });
    }

    /// Name of a constant with the values of the float partner, or of the codes where there is none.
    std::optional<std::string> constantFor(uint32_t index)
    {
        m_taken.insert(index);
        const Quantizer& q = quantizer(index);
        const std::string name = nameOf(q.shown()) + "_float";
        if (m_draft.constant(name))
            return name;
        const auto value = floatConstant(index);
        if (!value)
            return std::nullopt;
        m_draft.setConstant(name, *value);
        return name;
    }

    std::optional<Tensor> floatConstant(uint32_t index)
    {
        const Quantizer& q = quantizer(index);
        const auto& weights = m_pair.alignment->weights;
        const auto partner = std::ranges::find(weights, index, &WeightPair::quantizer);
        const Tensor* codes = storedCodes(m_plan, q);
        const Tensor* value = partner != weights.end() ? m_folded.of(*partner) : foldedBias(index);
        if (value && value->dtype() == DType::Float32 && (!codes || codes->count() == value->count())) {
            const Tensor plain = *value;
            return partner != weights.end() && partner->transposed && plain.rank() == 2 ? exchanged(plain) : plain;
        }
        if (!codes || q.params.scale.empty() || q.params.blockSize > 0)
            return std::nullopt;
        ++m_own;
        return Tensor::of<float>(codes->shape(), dequantized(*codes, q.params));
    }

    /// The bias that folding gave a layer of the float file.
    const Tensor* foldedBias(uint32_t index) const
    {
        if (quantizer(index).role != QuantRole::Bias || m_folded.empty())
            return nullptr;
        for (const QuantUnit& unit : m_pair.quantView->units())
            if (std::ranges::find(unit.inputs, index) != unit.inputs.end())
                for (const WeightPair& weight : m_pair.alignment->weights)
                    if (weight.quantNode == unit.node)
                        return m_folded.at(weight.floatNode, 2);
        return nullptr;
    }

    /// The node that made `value` passes on `source`, within bounds.
    bool become(const std::string& value, const std::string& source, const PairActivation& bounds)
    {
        DraftNode* node = makerOf(value);
        if (!node)
            return false;
        setBounds(*node, value, source, bounds);
        return true;
    }

    void setBounds(DraftNode& node, const std::string& value, const std::string& source, const PairActivation& bounds)
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

    /// What an operator on codes reads in place of these codes.
    std::optional<std::string> floatInput(ValueId codes)
    {
        const auto index = m_pair.quantView->ofQuantized(codes);
        if (!index)
            return std::nullopt;
        const Quantizer& q = quantizer(*index);
        if (q.role != QuantRole::Activation)
            return constantFor(*index);
        return q.dynamic ? nameOf(q.real) : nameOf(codes);
    }

    /// Operators on codes; true for all others, which stay as they are.
    bool bypassOperator(size_t at, const Node& node)
    {
        if (node.opType == "ConvInteger" || node.opType == "MatMulInteger")
            return bypassSums(at, node);
        const auto signature = qlinearSignature(node);
        if (!signature)
            return true;
        const bool plain = node.opType.starts_with("QLinear") || node.opType == "QGemm";
        if (!plain || node.opType == "QLinearWhere" || node.attributes.integer("channels_last", 0) != 0
            || (node.opType == "QLinearSoftmax" && node.attributes.integer("opset", kSoftmaxByAxis) < kSoftmaxByAxis))
            return false;
        std::vector<std::string> inputs;
        for (const CodeOperand& operand : signature->inputs) {
            const auto name = floatInput(node.inputs[size_t(operand.codes)]);
            if (!name)
                return false;
            inputs.push_back(*name);
        }
        if (signature->bias >= 0 && node.hasInput(size_t(signature->bias))) {
            const auto bias = floatInput(node.inputs[size_t(signature->bias)]);
            if (!bias)
                return false;
            inputs.push_back(*bias);
        }
        computeFloat(at, floatOpType(node), std::move(inputs));
        return bound(at, node);
    }

    void computeFloat(size_t at, const std::string& type, std::vector<std::string> inputs)
    {
        DraftNode& node = m_draft.nodes[at];
        node.opType = type;
        node.domain.clear();
        node.attributesChanged = true;
        node.inputs = std::move(inputs);
        node.outputs.resize(1);
    }

    /// The activation that the operator's output range stands for.
    bool bound(size_t at, const Node& node)
    {
        const auto index = m_pair.quantView->ofQuantized(node.outputs[0]);
        const PairActivation bounds = index ? activationOf(*index) : PairActivation {};
        if (!bounds.bounded())
            return true;
        const std::string value = nameOf(node.outputs[0]), inner = value + "_unbounded";
        m_draft.nodes[at].outputs[0] = inner;
        DraftNode clip;
        clip.name = value + "_bounds";
        setBounds(clip, value, inner, bounds);
        m_draft.nodes.push_back(std::move(clip));
        return true;
    }

    /// Sums of codes become the float product, and what scaled them passes it on.
    bool bypassSums(size_t at, const Node& node)
    {
        const ValueId scaled = m_pair.quantView->scaledSums(node.outputs[0]);
        const auto data = node.hasInput(0) ? floatInput(node.inputs[0]) : std::nullopt;
        const auto weight = node.hasInput(1) ? floatInput(node.inputs[1]) : std::nullopt;
        if (!scaled.valid() || !data || !weight)
            return false;
        computeFloat(at, floatOpType(node), { *data, *weight });
        return become(nameOf(scaled), nameOf(node.outputs[0]), PairActivation {});
    }

    /// Values that were codes hold reals now.
    void declareFloats()
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

    const ComparePair& m_pair;
    const Plan& m_plan;
    const FoldedConstants m_folded;
    GraphDraft m_draft;
    std::map<uint32_t, PairActivation> m_activations; ///< by quantizer
    std::map<std::string, size_t> m_makers;
    std::set<uint32_t> m_taken; ///< constants that are replaced
    size_t m_own = 0;
};

} // namespace

std::optional<Bypassed> bypassQuantizers(const ComparePair& pair, const std::vector<PairPlan>& pairs)
{
    return BypassBuilder(pair, pairs).make();
}

} // namespace qs
