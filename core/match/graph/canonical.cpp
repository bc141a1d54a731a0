// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/match/graph/canonical.h"

#include "core/qdq/qlinear_signature.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

namespace qs {

namespace {

bool oneOf(const std::string& type, std::initializer_list<std::string_view> list)
{
    return std::ranges::find(list, std::string_view(type)) != list.end();
}

/// A size that only what is known anyway is made of.
bool servesConstants(const Plan& plan, const Node& node, ValueId out)
{
    const Graph& g = plan.graph();
    const auto isKnown = [&](const Use& use) {
        return use.node.valid() && std::ranges::all_of(g.node(use.node).outputs, [&](ValueId made) {
            return !made.valid() || plan.constant(made) != nullptr;
        });
    };
    const auto& uses = g.value(out).uses;
    const bool size = node.opType == "Shape" || node.opType == "Size";
    return size && !uses.empty() && !g.isOutput(out) && std::ranges::all_of(uses, isKnown);
}

/// Where each axis comes from.
std::vector<int64_t> axesOf(const Node& transpose, size_t rank)
{
    if (const auto* perm = transpose.attributes.get<std::vector<int64_t>>("perm"))
        return *perm;
    std::vector<int64_t> reversed;
    for (size_t i = rank; i-- > 0;)
        reversed.push_back(int64_t(i));
    return reversed;
}

/// Every axis stands again where it stood before both.
bool undoes(const std::vector<int64_t>& second, const std::vector<int64_t>& first)
{
    if (second.empty() || second.size() != first.size())
        return false;
    for (size_t i = 0; i < second.size(); ++i)
        if (second[i] < 0 || size_t(second[i]) >= first.size() || first[size_t(second[i])] != int64_t(i))
            return false;
    return true;
}

} // namespace

CanonicalGraph::CanonicalGraph(const Plan& plan, const QuantView* view)
    : m_plan(&plan)
    , m_view(view)
{
    const Graph& g = plan.graph();
    m_root.resize(g.values().size());
    m_readers.resize(g.values().size());
    m_kind.assign(g.nodes().size(), FlowKind::Opaque);
    for (size_t v = 0; v < m_root.size(); ++v)
        m_root[v] = ValueId(v);
    for (ValueId in : g.inputs())
        m_activations.push_back(in);
    for (size_t n = 0; n < g.nodes().size(); ++n) {
        const Node& node = g.nodes()[n];
        const bool constant = std::ranges::all_of(
            node.outputs, [&](ValueId out) { return !out.valid() || plan.constant(out) != nullptr; });
        const bool plumbing = view && view->isPlumbing(NodeId(n));
        const size_t data = constant ? 0 : dataInputs(NodeId(n)).size();
        const ValueId back = constant || plumbing ? ValueId() : turnedBack(NodeId(n));
        FlowKind kind = FlowKind::Opaque;
        if (constant || plumbing || oneOf(node.opType, { "Identity", "Dropout", "Cast" }))
            kind = FlowKind::Same;
        else if (back.valid())
            kind = FlowKind::Same;
        else if (oneOf(node.opType, { "Reshape", "Flatten", "Squeeze", "Unsqueeze" }))
            kind = FlowKind::Reshape;
        else if (oneOf(node.opType, { "Relu", "Clip" }))
            kind = FlowKind::Activation;
        else if (node.opType == "BatchNormalization"
            || (data == 1 && oneOf(node.opType, { "Add", "Sub", "Mul", "Div" })))
            kind = FlowKind::Affine;
        m_kind[n] = kind;
        if (constant)
            continue;
        const auto inputs = dataInputs(NodeId(n));
        for (ValueId out : node.outputs) {
            if (!out.valid())
                continue;
            if (kind == FlowKind::Same && !inputs.empty())
                m_root[out.index()] = back.valid() ? back : inputs[0];
            else if (!servesConstants(plan, node, out))
                m_activations.push_back(out);
        }
        // From a node that leads to no output nothing follows: it is nobody's reader here.
        if (kind != FlowKind::Same && !node.outputs.empty() && g.leadsToOutput(NodeId(n)))
            for (ValueId in : inputs)
                m_readers[in.index()].emplace_back(n);
    }
    for (auto& list : m_readers)
        list.erase(std::unique(list.begin(), list.end()), list.end());
}

std::vector<ValueId> CanonicalGraph::dataInputs(NodeId id) const
{
    std::vector<ValueId> roots;
    for (ValueId in : graph().node(id).inputs)
        if (in.valid() && !m_plan->constant(in)) {
            const ValueId r = m_root[in.index()];
            // A dynamic quantizer's codes, scale and zero point are one value here.
            if (std::ranges::find(roots, r) == roots.end() || graph().node(id).opType == "Add"
                || graph().node(id).opType == "Mul" || graph().node(id).opType == "Concat")
                roots.push_back(r);
        }
    return roots;
}

ValueId CanonicalGraph::turnedBack(NodeId id) const
{
    const Node& node = graph().node(id);
    const auto turned = node.is("Transpose") ? dataInputs(id) : std::vector<ValueId>();
    const NodeId before = turned.size() == 1 ? graph().value(turned[0]).producer : NodeId();
    if (!before.valid() || !graph().node(before).is("Transpose"))
        return {};
    const auto& dims = m_plan->facts().of(turned[0]).dims;
    const size_t rank = dims ? dims->size() : 0;
    const auto inputs = dataInputs(before);
    const bool back = inputs.size() == 1 && undoes(axesOf(node, rank), axesOf(graph().node(before), rank));
    return back ? inputs[0] : ValueId();
}

std::string CanonicalGraph::opClass(NodeId id) const
{
    const std::string type = floatOpType(graph().node(id));
    if (type == "ReduceMean")
        return "GlobalAveragePool";
    if (type == "Gemm")
        return "MatMul";
    if (oneOf(type, { "Flatten", "Squeeze", "Unsqueeze" }))
        return "Reshape";
    return type;
}

bool CanonicalGraph::isHeavy(NodeId id) const
{
    const Node& node = graph().node(id);
    if (node.outputs.empty() || !oneOf(floatOpType(node), { "Conv", "ConvTranspose", "MatMul", "Gemm" }))
        return false;
    const auto [t, q] = storedWeight(id);
    return t && t->count() > 0 && (isFloat(t->dtype()) || q);
}

std::pair<const Tensor*, const Quantizer*> CanonicalGraph::storedWeight(NodeId id) const
{
    const Node& node = graph().node(id);
    const auto signature = qlinearSignature(node);
    const size_t slot = signature && signature->inputs.size() > 1 ? size_t(signature->inputs[1].codes) : 1;
    if (!node.hasInput(slot))
        return {};
    const auto q = m_view ? m_view->ofQuantized(node.inputs[slot]) : std::nullopt;
    return { m_plan->constant(node.inputs[slot]), q ? &m_view->quantizers()[*q] : nullptr };
}

std::vector<float> CanonicalGraph::weight(NodeId id) const
{
    const auto [t, q] = storedWeight(id);
    if (!t)
        return {};
    if (isFloat(t->dtype()))
        return toFloats(*t);
    return q ? dequantized(q->logicalCodes.valid() ? q->logicalCodes : *t, q->params) : std::vector<float> {};
}

std::optional<Shape> CanonicalGraph::weightShape(NodeId id) const
{
    const auto [t, q] = storedWeight(id);
    if (!t)
        return std::nullopt;
    return q && q->logicalCodes.valid() ? q->logicalCodes.shape() : t->shape();
}

const Tensor* storedCodes(const Plan& plan, const Quantizer& q)
{
    return q.logicalCodes.valid() ? &q.logicalCodes : plan.constant(q.codes);
}

namespace {

/// out = (code - zero) * scale over runs of `inner` elements a channel, channels in turn.
template <class T>
void dequantizeRuns(std::span<const T> codes, int64_t channels, int64_t inner, const QuantParams& params, float* out)
{
    for (size_t i = 0; inner > 0 && i < codes.size();)
        for (size_t c = 0; c < size_t(channels) && i < codes.size(); ++c) {
            const size_t s = std::min(c, params.scale.size() - 1);
            const double zero = params.zero(s);
            const float scale = params.scale[s];
            for (const size_t end = i + size_t(inner); i < end; ++i)
                out[i] = static_cast<float>(codes[i] - zero) * scale;
        }
}

} // namespace

std::vector<float> dequantized(const Tensor& codes, const QuantParams& params)
{
    const Tensor plain = toPlain(codes);
    std::vector<float> out(static_cast<size_t>(plain.count()));
    if (params.scale.empty())
        return out;
    const Shape& shape = plain.shape();
    int64_t inner = 1, channels = 1, outer = 1;
    if (params.axis && *params.axis >= 0 && size_t(*params.axis) < shape.size() && params.scale.size() > 1) {
        channels = shape[size_t(*params.axis)];
        for (size_t i = size_t(*params.axis) + 1; i < shape.size(); ++i)
            inner *= shape[i];
        for (size_t i = 0; i < size_t(*params.axis); ++i)
            outer *= shape[i];
    } else {
        inner = plain.count();
    }
    if (params.blockSize == 0 && plain.dtype() == DType::Int8) {
        dequantizeRuns(plain.data<int8_t>(), channels, inner, params, out.data());
        return out;
    }
    if (params.blockSize == 0 && plain.dtype() == DType::UInt8) {
        dequantizeRuns(plain.data<uint8_t>(), channels, inner, params, out.data());
        return out;
    }
    const int64_t block = std::max<int64_t>(params.blockSize, 1);
    const int64_t blocks = (channels + block - 1) / block;
    size_t i = 0;
    for (int64_t o = 0; o < outer; ++o)
        for (int64_t c = 0; c < channels; ++c)
            for (int64_t k = 0; k < inner; ++k, ++i) {
                // Blocked scales lie over [outer, blocks, inner]; per-channel ones over [channels].
                size_t s = params.blockSize > 0 ? size_t((o * blocks + c / block) * inner + k) : size_t(c);
                s = std::min(s, params.scale.size() - 1);
                out[i] = static_cast<float>(elementAsDouble(plain, int64_t(i)) - params.zero(s)) * params.scale[s];
            }
    return out;
}

} // namespace qs
