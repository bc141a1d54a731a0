// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/pairs/compare_pair.h"
#include "core/analysis/rows/comparison.h"
#include "core/engine/fuse/integer_units.h"
#include "core/engine/fuse/qdq_graph.h"
#include "core/ops/macs.h"
#include "core/qdq/block_weights.h"
#include "core/qdq/qlinear_signature.h"
#include "core/qdq/range_cut.h"
#include "core/quant/recipe/op_types.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace qs {

namespace {

bool multiplies(const std::string& type)
{
    return type == "Conv" || type == "ConvTranspose" || type == "Gemm" || type == "MatMul";
}

bool cuts(const Node& node) { return node.is("Relu") || node.is("Clip"); }

/// Operators that take all their floats as codes; others the first one.
bool takesAll(const Node& node)
{
    return node.is("Add") || node.is("Mul") || node.is("Sub") || node.is("Div") || node.is("Concat")
        || node.is("Where");
}

/// The form of a recipe that files like this one come from.
RecipeFormat formatOf(QuantForm form)
{
    if (form == QuantForm::Dynamic)
        return RecipeFormat::Dynamic;
    return form == QuantForm::WeightOnly ? RecipeFormat::WeightOnly : RecipeFormat::Qdq;
}

/// What the quantized file shows of its nodes.
class FloatNodes {
public:
    explicit FloatNodes(const ComparePair& pair)
        : m_format(formatOf(pair.quantView->form()))
        , m_plan(*pair.quantPlan)
        , m_graph(m_plan.graph())
        , m_view(*pair.quantView)
        , m_onCodes(nodesOnCodes(m_plan))
        , m_qdq(m_plan)
    {
        for (const auto& [node, issue] : m_plan.unsupported())
            m_unknown.insert(node);
    }

    /// It computes, and with floats; quantizers, constants and shapes do not.
    bool isCandidate(NodeId id) const
    {
        const Node& node = m_graph.node(id);
        if (m_view.isPlumbing(id) || isQuantizeLinear(node) || isDequantizeLinear(node)
            || node.opType.starts_with("DynamicQuantize") || floatOpType(node) != node.opType || node.is("Constant")
            || node.is("Identity"))
            return false;
        const auto computesFloat = [&](ValueId out) {
            const DType type = out.valid() ? m_plan.facts().of(out).dtype : DType::Undefined;
            return out.valid() && !m_plan.constant(out) && (isFloat(type) || type == DType::Undefined);
        };
        if (node.outputs.empty() || !computesFloat(node.outputs[0]))
            return false;
        const auto onCodes = [&](ValueId value) { return value.valid() && isCodes(value); };
        return std::ranges::none_of(node.inputs, onCodes) && std::ranges::none_of(node.outputs, onCodes)
            && blockWeights(node, [&](ValueId value) { return m_plan.constant(value); }).empty();
    }

    /// Why the file's node is no unit on codes; nothing where it is one.
    std::optional<FloatReason> missing(NodeId id) const
    {
        const Node& node = m_graph.node(id);
        if (m_onCodes[id.index()] || cutsBehindUnit(node)
            || (m_format == RecipeFormat::WeightOnly && hasQuantizedWeight(node)))
            return std::nullopt;
        if (const auto first = firstOpset(node); first > node.opset && node.opset > 0)
            return FloatReason { FloatCause::Opset,
                node.opType + " takes codes from opset " + std::to_string(first) + " on, and the file has "
                    + std::to_string(node.opset) };
        const auto& types = defaultOpTypes(m_format);
        const bool apart = m_format == RecipeFormat::Dynamic && isProductAndSum(node.opType, node.attributes);
        const bool ruled = apart || std::ranges::find(types, node.opType) != types.end();
        const auto lacks
            = [&](size_t i) { return node.hasInput(i) && needsCodes(node, i) && !hasCodes(node.inputs[i]); };
        for (size_t i = 0; i < node.inputs.size(); ++i)
            if (lacks(i) && mayHaveCodes(node.inputs[i]))
                return std::nullopt; // also what another input would need is not known then
        for (size_t i = 0; i < node.inputs.size(); ++i)
            if (lacks(i))
                return ruled ? lacking(node, i) : noRule(node);
        // ONNX Runtime multiplies codes into floats, but convolves codes into codes alone.
        if (node.is("MatMul") || node.is("Gemm"))
            return unfused(node);
        // It moves the quantizer of a product through what stands before it, and has no others on codes for that.
        const auto meetsQuantizer = [&](ValueId out) {
            return multiplies(node.opType) && out == node.outputs[0] && m_qdq.meetsQuantizer(id);
        };
        for (const ValueId out : node.outputs)
            if (out.valid() && isRead(out) && !getsCodes(out) && !meetsQuantizer(out))
                return ruled ? outputLacking(out) : noRule(node);
        return unfused(node);
    }

    bool standsBetween(NodeId id) const
    {
        const Node& node = m_graph.node(id);
        const bool reads = node.hasInput(0) && m_view.ofQuantized(node.inputs[0]);
        return reads && std::ranges::any_of(node.outputs, [&](ValueId out) {
            return out.valid() && std::ranges::any_of(m_graph.value(out).uses, [&](const Use& use) {
                const auto& next = m_graph.node(use.node).outputs;
                return isQuantizeLinear(m_graph.node(use.node))
                    || std::ranges::any_of(next, [&](ValueId v) { return v.valid() && getsCodes(v); });
            });
        });
    }

private:
    static FloatReason structure(std::string text) { return { FloatCause::Structure, std::move(text) }; }
    FloatReason outputLacking(ValueId output) const
    {
        return { FloatCause::Output, "its output '" + m_graph.value(output).name + "' has no quantizer" };
    }
    /// All has codes, and yet ONNX Runtime multiplies floats. Of codes that it has products for, which have 8 bits.
    std::optional<FloatReason> unfused(const Node& node) const
    {
        constexpr size_t kFactors = 2;
        if (m_format != RecipeFormat::Qdq || !multiplies(node.opType))
            return std::nullopt;
        for (size_t i = 0; i < kFactors; ++i) {
            const auto q = node.hasInput(i) ? quantizerOf(node.inputs[i]) : std::nullopt;
            const DType type = q ? m_view.quantizers()[*q].params.dtype : DType::Undefined;
            if (type != DType::Int8 && type != DType::UInt8)
                return std::nullopt;
        }
        return FloatReason { FloatCause::Unfused, whyUnfused(node) };
    }
    std::string whyUnfused(const Node& node) const
    {
        const Quantizer& input = m_view.quantizers()[*quantizerOf(node.inputs[0])];
        if (input.role == QuantRole::Activation && !input.params.perTensor())
            return "its input '" + m_graph.value(node.inputs[0]).name + "' has several scales";
        if (const auto bias = node.hasInput(2) ? m_view.ofQuantized(node.inputs[2]) : std::nullopt;
            bias && m_view.quantizers()[*bias].params.dtype != DType::Int32)
            return "its bias is " + std::string(dtypeName(m_view.quantizers()[*bias].params.dtype))
                + ", where products on codes add int32";
        const auto& uses = m_graph.value(node.outputs[0]).uses;
        const bool cut = uses.size() == 1 && cuts(m_graph.node(uses[0].node));
        const auto behind = quantizerBehind(cut ? m_graph.node(uses[0].node).outputs[0] : node.outputs[0]);
        if (behind && m_view.quantizers()[*behind].params.scale.size() > 1)
            return "its result is quantized with several scales";
        if (cut && m_graph.node(uses[0].node).is("Relu") && behind
            && !rangeCuts(m_view.quantizers()[*behind].params, { .low = 0 }))
            return "the quantizer behind it does not take the place of its " + m_graph.node(uses[0].node).opType
                + ", which stands between them";
        return "ONNX Runtime makes no operator on codes of it";
    }
    FloatReason noRule(const Node& node) const
    {
        return { FloatCause::NoRule,
            "ONNX Runtime's tools do not quantize " + node.opType + " in the "
                + std::string(nameIn(kRecipeFormats, m_format)) + " format" };
    }
    FloatReason lacking(const Node& node, size_t slot) const
    {
        const ValueId value = node.inputs[slot];
        const std::string& name = m_graph.value(value).name;
        if (m_format != RecipeFormat::Qdq && multiplies(node.opType) && node.hasInput(1)
            && !m_plan.constant(node.inputs[1]))
            return { FloatCause::Rule, "its second factor is computed, and this form quantizes constant ones" };
        if (m_format == RecipeFormat::WeightOnly && multiplies(node.opType) && node.hasInput(1))
            return structure("its constant '" + m_graph.value(node.inputs[1]).name + "' is not quantized");
        return structure(m_plan.constant(value) ? "its constant '" + name + "' is not quantized"
                                                : "its input '" + name + "' has no quantizer");
    }

    /// The version of ai.onnx from which on the operator takes codes.
    static int firstOpset(const Node& node) { return node.is("MaxPool") ? 12 : node.is("Resize") ? 11 : 0; }

    bool isCodes(ValueId value) const
    {
        const auto quantizer = m_view.ofQuantized(value);
        return quantizer && m_view.quantizers()[*quantizer].codes == value;
    }

    /// Also past nodes that ONNX Runtime moves the DequantizeLinear through.
    std::optional<uint32_t> quantizerOf(ValueId value) const
    {
        if (const auto own = m_view.ofQuantized(value))
            return own;
        const auto moved = m_qdq.codesOf(value);
        return moved ? m_view.ofQuantized(m_graph.node(moved->dequantize).outputs[0]) : std::nullopt;
    }

    /// Also past such nodes, where nobody else reads what is before them.
    std::optional<uint32_t> quantizerBehind(ValueId value) const
    {
        for (;;) {
            const auto& uses = m_graph.value(value).uses;
            const auto own = m_view.ofValue(value);
            if (own || uses.size() != 1 || uses[0].slot != 0 || !movesElements(m_graph.node(uses[0].node)))
                return own;
            value = m_graph.node(uses[0].node).outputs[0];
        }
    }

    /// Constants may be moved between their codes and where they are read.
    bool hasCodes(ValueId value) const
    {
        if (quantizerOf(value))
            return true;
        while (!m_view.ofQuantized(value)) {
            const NodeId by = m_graph.value(value).producer;
            if (!by.valid() || !m_plan.constant(value) || !m_graph.node(by).hasInput(0)
                || !(movesElements(m_graph.node(by)) || m_graph.node(by).is("Identity")))
                return false;
            value = m_graph.node(by).inputs[0];
        }
        return true;
    }
    /// What cannot be run makes it, as quantizers of other domains do: nobody knows what that is.
    bool mayHaveCodes(ValueId value) const
    {
        for (NodeId by = m_graph.value(value).producer; by.valid(); by = m_graph.value(value).producer) {
            const Node& node = m_graph.node(by);
            if (m_unknown.contains(by))
                return true;
            if (!(movesElements(node) || node.is("Identity")) || !node.hasInput(0))
                return false;
            value = node.inputs[0];
        }
        return false;
    }
    bool hasQuantizedWeight(const Node& node) const
    {
        return node.hasInput(1) && m_plan.constant(node.inputs[1]) && hasCodes(node.inputs[1]);
    }

    /// Floats that an operator on codes would want as codes: activations, and the weights of products. Biases and what
    /// is no float are not.
    bool needsCodes(const Node& node, size_t slot) const
    {
        const bool norm = node.opType.ends_with("Normalization");
        const size_t last = multiplies(node.opType) || norm ? 1 : takesAll(node) ? slot : 0;
        const DType type = m_plan.facts().of(node.inputs[slot]).dtype;
        return slot <= last && (isFloat(type) || (type == DType::Undefined && !m_plan.constant(node.inputs[slot])));
    }

    /// A Relu or Clip whose producer reads codes: both together are one unit.
    bool cutsBehindUnit(const Node& node) const
    {
        const NodeId before = cuts(node) && node.hasInput(0) ? m_graph.value(node.inputs[0]).producer : NodeId();
        if (!before.valid() || m_graph.value(node.inputs[0]).uses.size() != 1)
            return false;
        const Node& producer = m_graph.node(before);
        return !isDequantizeLinear(producer) && producer.hasInput(0) && m_view.ofQuantized(producer.inputs[0])
            && getsCodes(node.outputs[0]);
    }

    bool isRead(ValueId value) const { return !m_graph.value(value).uses.empty() || m_graph.isOutput(value); }

    /// A quantizer reads the value, or what a Relu or Clip makes of it alone.
    bool getsCodes(ValueId value) const
    {
        const auto& uses = m_graph.value(value).uses;
        if (std::ranges::any_of(uses, [&](const Use& use) { return isQuantizeLinear(m_graph.node(use.node)); }))
            return true;
        return uses.size() == 1 && cuts(m_graph.node(uses[0].node)) && getsCodes(m_graph.node(uses[0].node).outputs[0]);
    }

    const RecipeFormat m_format;
    const Plan& m_plan;
    const Graph& m_graph;
    const QuantView& m_view;
    const std::vector<bool> m_onCodes; ///< by node, in ONNX Runtime
    const QdqGraph m_qdq; ///< as ONNX Runtime reads it
    std::unordered_set<NodeId> m_unknown; ///< nodes that cannot be run
};

/// Multiplications of the float model's nodes, with the sizes of the samples.
class MacShares {
public:
    MacShares(const Graph& graph, const Comparison& c)
    {
        OuterFacts sizes;
        for (const ActivationRow& row : c.activations)
            if (!row.floatNode.valid() && !row.shape.empty())
                sizes.emplace(row.name, Fact { DType::Float32, toDims(row.shape), {} });
        const InferredFacts facts = inferFacts(graph, sizes);
        for (const Node& node : graph.nodes()) {
            const auto macs = nodeMacs(node, facts);
            m_known = m_known && macs;
            m_total += double(macs.value_or(0));
            m_byName.emplace(node.name, double(macs.value_or(0)));
        }
    }
    Number of(const std::string& node) const
    {
        const auto found = m_byName.find(node);
        return m_known && m_total > 0 && found != m_byName.end() ? Number(found->second / m_total) : Number();
    }

private:
    std::unordered_map<std::string, double> m_byName;
    double m_total = 0;
    bool m_known = true;
};

/// Names of the float file for nodes of the quantized one: the node that makes the partner of the same output.
std::unordered_map<NodeId, std::string> partnerNames(const ComparePair& pair)
{
    const Graph &f = pair.floatPlan->graph(), &q = pair.quantPlan->graph();
    std::unordered_map<NodeId, std::string> names;
    const auto add = [&](ValueId floatValue, ValueId quantValue) {
        const NodeId to = f.value(floatValue).producer, from = q.value(quantValue).producer;
        if (to.valid() && from.valid() && f.node(to).opType == q.node(from).opType)
            names.try_emplace(from, f.node(to).name);
    };
    for (const ValuePair& p : pair.alignment->values) {
        add(p.floatValue, p.quantValue);
        if (p.quantizer)
            if (const ValueId real = pair.quantView->quantizers()[*p.quantizer].real; real.valid())
                add(p.floatValue, real);
    }
    return names;
}

/// A decision of the quantizer that holds though values around the node have quantizers.
bool holdsAnyway(FloatCause cause)
{
    return cause == FloatCause::Opset || cause == FloatCause::Type || cause == FloatCause::Extreme
        || cause == FloatCause::Range;
}

} // namespace

void fillFloatNodes(const ComparePair& pair, Comparison& c)
{
    const Graph& graph = pair.quantPlan->graph();
    const FloatNodes file(pair);
    const auto partners = partnerNames(pair);
    std::unordered_map<std::string, const FloatReason*> said;
    if (pair.provenance)
        for (const LeftInFloat& left : pair.provenance->left)
            said.emplace(left.node, &left.reason);
    for (size_t n = 0; n < graph.nodes().size(); ++n) {
        const NodeId id(n);
        if (!file.isCandidate(id))
            continue;
        const Node& node = graph.node(id);
        const auto known = said.find(node.name);
        const FloatReason* decided = known == said.end() ? nullptr : known->second;
        const auto missing = file.missing(id);
        if (!missing && !(decided && holdsAnyway(decided->cause)))
            continue;
        FloatNodeRow row { id, node.name, node.opType, decided ? *decided : *missing, {}, file.standsBetween(id) };
        if (const auto partner = partners.find(id);
            partner != partners.end() && !pair.floatPlan->graph().findNode(node.name).valid())
            row.node = partner->second;
        c.floatNodes.push_back(std::move(row));
    }
    if (c.floatNodes.empty())
        return;
    const MacShares shares(pair.floatPlan->graph(), c);
    for (FloatNodeRow& row : c.floatNodes)
        row.macShare = shares.of(row.node);
}

const FloatNodeRow* whyFloat(const Comparison& c, std::string_view node)
{
    const auto found = std::ranges::find(c.floatNodes, node, &FloatNodeRow::node);
    return found == c.floatNodes.end() ? nullptr : &*found;
}

} // namespace qs
