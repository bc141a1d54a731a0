// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/fuse/qdq_graph.h"

#include "core/qdq/qlinear_signature.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace qs {

namespace {

/// Malformed nodes may lack both.
bool hasInputAndOutput(const Node& node) { return node.hasInput(0) && node.hasOutput(0); }

bool isClip(const Node& node) { return node.domain.empty() && (node.opType == "Relu" || node.opType == "Clip"); }

/// Type of the codes that a QuantizeLinear makes or a DequantizeLinear reads.
DType codeType(const LoweredGraph& lowered, ValueId codes) { return lowered.facts().of(codes).dtype; }

/// A grid of 8 bits, in the runtime's float32 steps.
struct ByteGrid {
    float scale = 0;
    int64_t zero = 0;
    float low(DType type) const { return float(codeRange(type)->low - zero) * scale; }
    float high(DType type) const { return float(codeRange(type)->high - zero) * scale; }
    bool operator==(const ByteGrid&) const = default;
};

/// The grid of what both hold. Source: measured (ranges that nothing has in common give no scale).
ByteGrid inCommon(const ByteGrid& a, const ByteGrid& b, DType type)
{
    if (a == b)
        return a;
    const float low = std::max(a.low(type), b.low(type)), high = std::min(a.high(type), b.high(type));
    ByteGrid common { (high - low) / 255.0f, 0 };
    if (common.scale > 0 && std::isfinite(common.scale))
        common.zero = static_cast<int64_t>(std::round(float(codeRange(type)->low) - low / common.scale));
    return common;
}

} // namespace

QdqGraph::QdqGraph(const LoweredGraph& lowered)
    : m_lowered(lowered)
    , m_captured(lowered.graph().values().size(), false)
{
    for (const Node& node : graph().nodes())
        for (ValueId id : node.captures)
            m_captured[id.index()] = true;
    mergePairs();
}

const Tensor* QdqGraph::constant(ValueId id) const
{
    const size_t values = graph().values().size();
    if (id.valid() && id.index() >= values)
        return &m_made[id.index() - values];
    return id.valid() ? m_lowered.constant(id) : nullptr;
}

std::vector<ValueId> QdqGraph::madeFrom(ValueId id) const
{
    std::vector<ValueId> list;
    if (!id.valid() || id.index() < graph().values().size())
        return list;
    for (const MergedPairs& merged : m_merged)
        if ((id == merged.made.scale || id == merged.made.zeroPoint))
            for (const NodeId pairNode : merged.nodes)
                for (const size_t i : { 1, 2 })
                    list.push_back(graph().node(pairNode).inputs[i]);
    return list;
}

PairParameters QdqGraph::parameters(NodeId pairNode) const
{
    if (const auto merged = m_mergedOf.find(pairNode); merged != m_mergedOf.end())
        return m_merged[merged->second].made;
    const Node& node = graph().node(pairNode);
    return { node.hasInput(1) ? node.inputs[1] : ValueId(), node.hasInput(2) ? node.inputs[2] : ValueId() };
}

bool QdqGraph::regrids(NodeId pairNode) const
{
    const auto merged = m_mergedOf.find(pairNode);
    if (merged == m_mergedOf.end())
        return false;
    const Node& node = graph().node(pairNode);
    const MergedPairs& made = m_merged[merged->second];
    return elementAsDouble(*constant(node.inputs[1]), 0) != double(made.scale)
        || elementAsInt(*constant(node.inputs[2]), 0) != made.zero;
}

ValueId QdqGraph::repeatedCodes(NodeId quantize) const
{
    const auto merged = m_mergedOf.find(quantize);
    const NodeId first = merged == m_mergedOf.end() ? quantize : m_merged[merged->second].nodes[0];
    return first == quantize ? ValueId() : graph().node(first).outputs[0];
}

bool QdqGraph::isAlias(const Node& node) const
{
    if (!node.domain.empty() || !hasInputAndOutput(node))
        return false;
    const InferredFacts& facts = m_lowered.facts();
    return node.opType == "Identity" || node.opType == "Dropout"
        || (node.opType == "Cast" && facts.of(node.inputs[0]).dtype != DType::Undefined
            && facts.of(node.inputs[0]).dtype == facts.of(node.outputs[0]).dtype);
}

bool QdqGraph::isKnownShape(const Node& node) const
{
    return node.is("Shape") && node.hasOutput(0) && m_lowered.facts().of(node.outputs[0]).value;
}

/// Both have the same scale and zero point, which are given and of 8 bits.
bool QdqGraph::onePair(NodeId quantize, NodeId dequantize) const
{
    const Node &q = graph().node(quantize), &dq = graph().node(dequantize);
    if (!q.hasInput(2) || !dq.hasInput(2) || !constantGrid(q) || !constantGrid(dq))
        return false;
    const Tensor &a = *constant(q.inputs[2]), &b = *constant(dq.inputs[2]);
    return (a.dtype() == DType::UInt8 || a.dtype() == DType::Int8) && a.dtype() == b.dtype()
        && elementAsInt(a, 0) == elementAsInt(b, 0)
        && elementAsDouble(*constant(q.inputs[1]), 0) == elementAsDouble(*constant(dq.inputs[1]), 0);
}

void QdqGraph::mergePairs()
{
    for (size_t n = 0; n < graph().nodes().size(); ++n)
        if (dequantizes(NodeId(n)) && !m_lowered.step(NodeId(n)).folded)
            mergeAt(NodeId(n));
    for (MergedPairs& merged : m_merged)
        makeParameters(merged);
    // What all of them say in the file is left to the file's nodes.
    std::erase_if(m_mergedOf, [&](const auto& entry) {
        return std::ranges::none_of(m_merged[entry.second].nodes, [&](NodeId id) { return regrids(id); });
    });
}

/// This DequantizeLinear and the QuantizeLinear behind it go, what is around them becomes one pair.
void QdqGraph::mergeAt(NodeId dequantize)
{
    const Node& inner = graph().node(dequantize);
    const NodeId before = producer(inner.inputs[0]), next = onlyReader(inner.outputs[0]);
    if (!before.valid() || !quantizes(before) || onlyReader(graph().node(before).outputs[0]) != dequantize
        || !next.valid() || !quantizes(next) || source(graph().node(next).inputs[0]) != inner.outputs[0])
        return;
    const NodeId last = onlyReader(graph().node(next).outputs[0]);
    if (!last.valid() || !dequantizes(last) || source(graph().node(last).inputs[0]) != graph().node(next).outputs[0]
        || !onePair(before, dequantize) || !onePair(next, last))
        return;
    const auto gridOf = [&](NodeId id) {
        const Node& node = graph().node(id);
        return ByteGrid { static_cast<float>(elementAsDouble(*constant(node.inputs[1]), 0)),
            elementAsInt(*constant(node.inputs[2]), 0) };
    };
    const DType type = constant(inner.inputs[2])->dtype();
    const auto known = m_mergedOf.find(dequantize);
    const ByteGrid first = known == m_mergedOf.end()
        ? gridOf(dequantize)
        : ByteGrid { m_merged[known->second].scale, m_merged[known->second].zero };
    const ByteGrid common = inCommon(first, gridOf(last), type);
    if (constant(graph().node(next).inputs[2])->dtype() != type || !(common.scale > 0) || !std::isfinite(common.scale))
        return;
    if (known == m_mergedOf.end())
        m_merged.push_back({ { before, dequantize }, 0, 0, {} });
    const size_t index = known == m_mergedOf.end() ? m_merged.size() - 1 : known->second;
    MergedPairs& merged = m_merged[index];
    merged.nodes.insert(merged.nodes.end(), { next, last });
    merged.scale = common.scale;
    merged.zero = common.zero;
    for (const NodeId id : merged.nodes)
        m_mergedOf[id] = index;
}

void QdqGraph::makeParameters(MergedPairs& merged)
{
    const Tensor& zero = *constant(graph().node(merged.nodes[0]).inputs[2]);
    const auto add = [&](Tensor tensor) {
        m_made.push_back(std::move(tensor));
        return ValueId(graph().values().size() + m_made.size() - 1);
    };
    merged.made.scale = add(Tensor::scalar(merged.scale));
    merged.made.zeroPoint = add(zero.dtype() == DType::Int8 ? Tensor::scalar(static_cast<int8_t>(merged.zero))
                                                            : Tensor::scalar(static_cast<uint8_t>(merged.zero)));
}

ValueId QdqGraph::source(ValueId id) const
{
    for (;;) {
        const NodeId by = graph().value(id).producer;
        if (!by.valid() || !isAlias(graph().node(by)) || graph().node(by).outputs[0] != id || constant(id))
            return id;
        id = graph().node(by).inputs[0];
    }
}

bool QdqGraph::visitUses(ValueId id, const std::function<void(const Use&)>& visit) const
{
    constexpr size_t kMostAliases = 256; // behind each other or beside
    std::vector<std::pair<ValueId, size_t>> open { { id, 0 } };
    bool escapes = false;
    for (size_t aliases = 0; !open.empty();) {
        auto& [value, next] = open.back();
        if (next == 0)
            escapes |= graph().isOutput(value) || m_captured[value.index()];
        const auto& uses = graph().value(value).uses;
        if (next == uses.size()) {
            open.pop_back();
            continue;
        }
        const Use& use = uses[next++];
        const Node& node = graph().node(use.node);
        if (!isAlias(node))
            visit(use);
        else if (++aliases > kMostAliases)
            return true;
        else
            open.emplace_back(node.outputs[0], 0);
    }
    return escapes;
}

std::vector<Use> QdqGraph::uses(ValueId id) const
{
    std::vector<Use> list = usesInFile(id);
    std::erase_if(list, [&](const Use& use) { return isKnownShape(graph().node(use.node)); });
    return list;
}

std::vector<Use> QdqGraph::usesInFile(ValueId id) const
{
    std::vector<Use> list;
    visitUses(id, [&](const Use& use) { list.push_back(use); });
    return list;
}

bool QdqGraph::escapes(ValueId id) const
{
    return visitUses(id, [](const Use&) {});
}

NodeId QdqGraph::onlyReader(ValueId id) const
{
    const auto list = uses(id);
    return list.size() == 1 && !escapes(id) ? list[0].node : NodeId();
}

bool QdqGraph::dequantizes(NodeId id) const
{
    return m_lowered.step(id).lowered && isDequantizeLinear(graph().node(id)) && hasInputAndOutput(graph().node(id));
}

bool QdqGraph::quantizes(NodeId id) const
{
    return m_lowered.step(id).lowered && isQuantizeLinear(graph().node(id)) && hasInputAndOutput(graph().node(id));
}

/// Nodes through which the runtime hands pairs on.
bool QdqGraph::movesCodes(const Node& node) const
{
    static constexpr std::array<std::string_view, 5> types { "Reshape", "Transpose", "Squeeze", "Unsqueeze", "Slice" };
    if (!node.domain.empty() || node.outputs.size() != 1 || !hasInputAndOutput(node))
        return false;
    if (node.opType == "MaxPool")
        return node.opset >= 12;
    return std::ranges::find(types, node.opType) != types.end();
}

bool QdqGraph::constantGrid(const Node& node) const
{
    const Tensor* scale = node.hasInput(1) ? constant(node.inputs[1]) : nullptr;
    if (!scale || scale->dtype() != DType::Float32 || scale->count() != 1)
        return false;
    const Tensor* zero = node.hasInput(2) ? constant(node.inputs[2]) : nullptr;
    return node.hasInput(2) ? zero && zero->count() == 1 : true;
}

size_t QdqGraph::dequantizedEdges(ValueId codes) const
{
    size_t edges = 0;
    for (const Use& use : uses(codes)) {
        const Node& node = graph().node(use.node);
        if (!dequantizes(use.node) || use.slot != 0)
            return SIZE_MAX;
        edges += uses(node.outputs[0]).size() + (escapes(node.outputs[0]) ? 1 : 0);
    }
    return edges;
}

DType QdqGraph::shifted(const Node& quantize, size_t edges) const
{
    const DType type = codeType(m_lowered, quantize.outputs[0]);
    const bool shifts = type == DType::Int8 && edges == 1 && quantize.hasInput(2) && constantGrid(quantize);
    return shifts ? DType::UInt8 : type;
}

DType QdqGraph::seenType(NodeId id) const
{
    const auto merged = m_mergedOf.find(id);
    // Of merged pairs the last one's readers are those of the codes.
    const auto& nodes = merged == m_mergedOf.end() ? std::vector<NodeId> {} : m_merged[merged->second].nodes;
    const Node& quantize = graph().node(nodes.empty() ? id : nodes[nodes.size() - 2]);
    size_t edges = 0;
    bool alone = true;
    // Equal quantizers of one value count as one.
    for (const Use& use : uses(source(quantize.inputs[0]))) {
        const Node& twin = graph().node(use.node);
        if (!quantizes(use.node) || twin.inputs.size() != quantize.inputs.size()
            || !std::equal(twin.inputs.begin() + 1, twin.inputs.end(), quantize.inputs.begin() + 1))
            continue;
        const size_t own = dequantizedEdges(twin.outputs[0]);
        alone = alone && own != SIZE_MAX && !escapes(twin.outputs[0]);
        edges += alone ? own : 0;
        for (const Use& reader : uses(twin.outputs[0])) {
            const Node& dq = graph().node(reader.node);
            const Tensor *a = quantize.hasInput(2) ? constant(quantize.inputs[2]) : nullptr,
                         *b = dq.hasInput(2) ? constant(dq.inputs[2]) : nullptr;
            alone = alone && a && b && a->count() == 1 && b->count() == 1 && a->dtype() == b->dtype()
                && elementAsInt(*a, 0) == elementAsInt(*b, 0);
        }
    }
    return shifted(quantize, alone ? edges : 2);
}

std::optional<int64_t> QdqGraph::turnedAxis(const RealCodes& weight, ValueId real) const
{
    const Tensor* codes = constant(weight.codes);
    if (!codes || uses(source(real)).size() != 1)
        return std::nullopt;
    const auto rank = static_cast<int64_t>(codes->rank());
    int64_t axis = weight.axis < 0 ? weight.axis + rank : weight.axis;
    for (const NodeId id : weight.moves) {
        const Node& move = graph().node(id);
        auto order = move.attributes.integers("perm");
        for (int64_t i = rank; order.empty() && i-- > 0;)
            order.push_back(i);
        const auto to = std::ranges::find(order, axis);
        if (move.opType != "Transpose" || static_cast<int64_t>(order.size()) != rank || to == order.end())
            return std::nullopt;
        axis = to - order.begin();
    }
    return axis;
}

std::optional<RealCodes> QdqGraph::codesOf(ValueId real) const
{
    RealCodes r;
    ValueId at = source(real);
    NodeId by = graph().value(at).producer;
    size_t readers = 0; ///< of the last moved value
    while (by.valid() && movesCodes(graph().node(by))) {
        const std::vector<Use> all = uses(at);
        if (r.moves.empty())
            readers = all.size();
        // Where one reader is a quantizer, the runtime hands the pair on to none of the others.
        if (escapes(at)
            || std::ranges::any_of(all, [&](const Use& use) { return isQuantizeLinear(graph().node(use.node)); }))
            return std::nullopt;
        r.moves.insert(r.moves.begin(), by);
        at = source(graph().node(by).inputs[0]);
        by = graph().value(at).producer;
    }
    if (!by.valid() || !dequantizes(by))
        return std::nullopt;
    const Node& dq = graph().node(by);
    const Tensor* scale = dq.hasInput(1) ? constant(dq.inputs[1]) : nullptr;
    if (!scale || scale->dtype() != DType::Float32 || dq.attributes.integer("block_size", 0) != 0
        || (dq.hasInput(2) && !constant(dq.inputs[2])))
        return std::nullopt;
    r.codes = dq.inputs[0];
    r.scale = parameters(by).scale;
    r.zeroPoint = parameters(by).zeroPoint;
    r.type = r.seen = codeType(m_lowered, r.codes);
    r.dequantize = by;
    r.axis = dq.attributes.integer("axis", 1);
    if (!r.moves.empty() && !constantGrid(dq)) {
        const auto axis = turnedAxis(r, real);
        if (!axis)
            return std::nullopt;
        r.axis = *axis;
    }
    if (const Tensor* codes = constant(r.codes)) {
        if (r.axis < 0)
            r.axis += static_cast<int64_t>(codes->rank());
        return r;
    }
    if (!r.moves.empty()) {
        const bool shifts = r.type == DType::Int8 && readers == 1 && r.zeroPoint.valid();
        r.seen = shifts ? DType::UInt8 : r.type;
    } else if (const NodeId q = producer(r.codes); q.valid() && quantizes(q)) {
        r.seen = seenType(q);
    }
    return r;
}

bool QdqGraph::clipIsRedundant(const Node& clip, NodeId quantizer) const
{
    const Node& quantize = graph().node(quantizer);
    const PairParameters grid = parameters(quantizer);
    const DType type = codeType(m_lowered, quantize.outputs[0]);
    if (!constantGrid(quantize)
        || (type != DType::UInt8 && type != DType::Int8 && type != DType::UInt16 && type != DType::Int16))
        return false;
    const auto range = *codeRange(type);
    const double zero = grid.zeroPoint.valid() ? elementAsDouble(*constant(grid.zeroPoint), 0) : 0;
    if (clip.opType == "Relu")
        return zero == static_cast<double>(range.low);
    constexpr float kLargest = std::numeric_limits<float>::max();
    float low = clip.attributes.real("min", -kLargest), high = clip.attributes.real("max", kLargest);
    for (size_t i : { 1, 2 }) {
        if (!clip.hasInput(i))
            continue;
        const Tensor* bound = constant(clip.inputs[i]);
        if (!bound || bound->count() != 1)
            return false;
        (i == 1 ? low : high) = static_cast<float>(elementAsDouble(*bound, 0));
    }
    const auto scale = static_cast<float>(elementAsDouble(*constant(grid.scale), 0));
    return std::nearbyint(double(low / scale)) + zero <= static_cast<double>(range.low)
        && std::nearbyint(double(high / scale)) + zero >= static_cast<double>(range.high);
}

/// The quantizer that is the value's only reader (with its twins).
std::optional<CodedResult> QdqGraph::quantizedAt(ValueId real) const
{
    CodedResult r;
    if (escapes(real))
        return std::nullopt;
    for (const Use& use : uses(real)) {
        const Node& node = graph().node(use.node);
        if (!quantizes(use.node) || use.slot != 0 || !constantGrid(node))
            return std::nullopt;
        if (!r.quantize.valid()) {
            r.quantize = use.node;
            continue;
        }
        const Node& first = graph().node(r.quantize);
        if (node.inputs.size() != first.inputs.size() || regrids(use.node) || regrids(r.quantize)
            || !std::equal(node.inputs.begin() + 1, node.inputs.end(), first.inputs.begin() + 1))
            return std::nullopt;
        r.twins.push_back(use.node);
    }
    if (!r.quantize.valid())
        return std::nullopt;
    const Node& q = graph().node(r.quantize);
    r.nodes = { r.quantize };
    r.codes = q.outputs[0];
    r.scale = parameters(r.quantize).scale;
    r.zeroPoint = parameters(r.quantize).zeroPoint;
    r.type = codeType(m_lowered, r.codes);
    r.seen = seenType(r.quantize);
    return r;
}

std::optional<CodedResult> QdqGraph::resultOf(NodeId op) const
{
    ValueId at = graph().node(op).outputs[0];
    std::vector<NodeId> moves;
    NodeId clip;
    for (NodeId next = onlyReader(at); next.valid(); next = onlyReader(at)) {
        const Node& node = graph().node(next);
        if (!hasInputAndOutput(node))
            return std::nullopt;
        if (isClip(node) && !clip.valid() && moves.empty() && source(node.inputs[0]) == at)
            clip = next;
        else if (movesCodes(node) && source(node.inputs[0]) == at)
            moves.push_back(next);
        else
            break;
        at = node.outputs[0];
    }
    auto result = quantizedAt(at);
    if (!result || (clip.valid() && !clipIsRedundant(graph().node(clip), result->quantize)))
        return std::nullopt;
    if (!moves.empty()) {
        // The runtime quantizes before the movements; that pair has one reader.
        result->seen = shifted(graph().node(result->quantize), 1);
        result->nodes.insert(result->nodes.begin(), moves.begin(), moves.end());
        result->moves = std::move(moves);
    }
    if (clip.valid())
        result->nodes.insert(result->nodes.begin(), clip);
    return result;
}

bool QdqGraph::meetsQuantizer(NodeId op, size_t mostBits) const
{
    ValueId at = graph().node(op).outputs[0];
    bool moved = false;
    for (NodeId next = onlyReader(at); next.valid(); next = onlyReader(at)) {
        const Node& node = graph().node(next);
        if (!hasInputAndOutput(node) || (!movesCodes(node) && !(isClip(node) && !moved)))
            break;
        moved |= movesCodes(node);
        at = node.outputs[0];
    }
    const auto readers = uses(at);
    const auto makesCodes = [&](const Use& use) {
        return quantizes(use.node) && dtypeBits(codeType(m_lowered, graph().node(use.node).outputs[0])) <= mostBits;
    };
    return std::ranges::any_of(readers, makesCodes) && (!moved || onlyReader(at).valid());
}

bool QdqGraph::sameGrid(const RealCodes& a, const CodedResult& b) const
{
    const Tensor *as = constant(a.scale), *bs = constant(b.scale);
    const Tensor *az = constant(a.zeroPoint), *bz = constant(b.zeroPoint);
    return as && bs && az && bz && as->count() == 1 && bs->count() == 1 && az->count() == 1 && bz->count() == 1
        && az->dtype() == bz->dtype() && elementAsDouble(*as, 0) == elementAsDouble(*bs, 0)
        && elementAsInt(*az, 0) == elementAsInt(*bz, 0);
}

} // namespace qs
