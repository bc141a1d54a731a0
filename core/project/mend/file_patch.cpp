// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/mend/file_patch.h"

#include "core/analysis/pairs/cache_pairs.h"
#include "core/analysis/rows/range_use.h"
#include "core/base/rounding.h"
#include "core/qdq/qlinear_signature.h"
#include "core/quant/params/scale.h"
#include "core/quant/params/weights.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace qs {

namespace {

constexpr int64_t kClipByInputs = 11; ///< opset from which Clip takes its bounds as inputs

/// As large on both sides: the code of zero in the middle.
bool isSymmetric(const QuantParams& params)
{
    const int64_t middle = middleCode(params);
    return std::ranges::all_of(params.zeroPoint, [&](int32_t z) { return z == middle || z == middle - 1; })
        && !params.zeroPoint.empty() && middle != params.codes().low;
}

bool equalParams(const QuantParams& a, const QuantParams& b)
{
    return a.dtype == b.dtype && a.scale == b.scale && a.zeroPoint == b.zeroPoint;
}

/// It moves the elements of one value.
bool passesOn(const Node& node) { return movesElements(node) && node.opType != "Concat"; }

} // namespace

FilePatch::FilePatch(const ComparePair& pair)
    : m_pair(pair)
    , m_plan(pair.writtenPlan ? *pair.writtenPlan : *pair.quantPlan)
    , m_folded(pair)
    , m_draft(std::make_shared<const Model>(m_plan.model()))
{
    for (const PairPlan& p : planPairs(pair))
        if (p.pair.quantizer && p.ownQuantizer)
            m_activations[*p.pair.quantizer] = p.activation;
    const Graph& graph = m_plan.graph();
    for (const auto& [written, read] : cachePairs(graph, /*anyType*/ true)) {
        const auto q = pair.quantView->ofValue(graph.findValue(written));
        const auto other = pair.quantView->ofValue(graph.findValue(read));
        if (q && other)
            m_caches.emplace_back(*q, *other);
    }
}

const std::string& FilePatch::nameOf(ValueId id) const { return m_plan.graph().value(id).name; }

const QuantParams& FilePatch::params(uint32_t q) const
{
    const auto it = m_params.find(q);
    return it == m_params.end() ? quantizer(q).params : it->second;
}

Status FilePatch::refuse(uint32_t q, std::string_view why) const
{
    Issue issue = badInput("this quantizer cannot be changed in the file: " + std::string(why), m_plan.model().path,
        "change a recipe and quantize the float model");
    issue.tensor = nameOf(quantizer(q).shown());
    return issue;
}

bool FilePatch::isPair(uint32_t index) const
{
    const Quantizer& q = quantizer(index);
    return !q.dynamic && !q.dequantize.empty() && !q.params.scale.empty() && q.params.blockSize == 0
        && !q.logicalCodes.valid() && (isInteger(q.params.dtype) || q.params.perTensor())
        && (!q.quantize.valid() || isQuantizeLinear(m_plan.graph().node(q.quantize)));
}

std::vector<FilePatch::Place> FilePatch::places(uint32_t index) const
{
    const Graph& graph = m_plan.graph();
    const Quantizer& q = quantizer(index);
    std::vector<Place> found;
    for (const NodeId id : q.dequantize)
        found.push_back({ id, 0, 1, 2 });
    if (q.quantize.valid() && isQuantizeLinear(graph.node(q.quantize)))
        found.push_back({ q.quantize, {}, 1, 2 });
    const auto slot = [](int i) { return i < 0 ? std::nullopt : std::optional(size_t(i)); };
    for (size_t n = 0; n < graph.nodes().size(); ++n) {
        const Node& node = graph.nodes()[n];
        const auto signature = qlinearSignature(node);
        if (!signature)
            continue;
        const auto reads = [&](int i) {
            return i >= 0 && node.hasInput(size_t(i)) && m_pair.quantView->ofQuantized(node.inputs[size_t(i)]) == index;
        };
        const auto stored = [&](int i) { return node.inputs[size_t(i)] == q.codes ? slot(i) : std::nullopt; };
        for (const CodeOperand& in : signature->inputs)
            if (reads(in.codes))
                found.push_back({ NodeId(n), stored(in.codes), slot(in.scale), slot(in.zeroPoint) });
        if (reads(signature->bias))
            found.push_back({ NodeId(n), stored(signature->bias), {}, {} });
        if (q.quantize == NodeId(n) && signature->output.scale >= 0)
            found.push_back({ NodeId(n), {}, slot(signature->output.scale), slot(signature->output.zeroPoint) });
    }
    return found;
}

bool FilePatch::isCached(uint32_t index) const
{
    return std::ranges::find(m_caches, index, &std::pair<uint32_t, uint32_t>::first) != m_caches.end();
}

std::vector<std::pair<NodeId, size_t>> FilePatch::sums(uint32_t index) const
{
    std::vector<std::pair<NodeId, size_t>> found;
    const auto nodes = m_plan.graph().nodes();
    for (size_t n = 0; n < nodes.size(); ++n)
        for (const size_t slot : { size_t(0), size_t(1) })
            if ((nodes[n].is("ConvInteger") || nodes[n].is("MatMulInteger")) && nodes[n].hasInput(slot)
                && m_pair.quantView->ofQuantized(nodes[n].inputs[slot]) == index)
                found.emplace_back(NodeId(n), slot + 2);
    return found;
}

Status FilePatch::readAsWritten(uint32_t index)
{
    const Quantizer& q = quantizer(index);
    std::string zero = q.dynamic && q.zeroPointValue.valid() ? nameOf(q.zeroPointValue) : std::string();
    if (!q.dynamic && q.params.zeroPoint.size() == 1) {
        zero = nameOf(q.shown()) + "_mended_zero_point";
        m_draft.setConstant(zero, codeTensor(q.params.dtype, {}, q.params.zeroPoint));
    }
    if (zero.empty())
        return refuse(index, "its zero point is not known");
    for (const auto& [node, slot] : sums(index))
        setInput(m_draft.nodes[node.index()], slot, zero);
    return {};
}

bool FilePatch::isChangeable(uint32_t index) const
{
    const Quantizer& q = quantizer(index);
    if (isSummed(index))
        return false;
    if (isPair(index))
        return true;
    if (q.dynamic || q.params.scale.empty() || q.params.blockSize != 0 || q.logicalCodes.valid()
        || !isInteger(q.params.dtype) || (m_plan.graph().isOutput(q.codes) && !isCached(index)))
        return false;
    const std::vector<Place> all = places(index);
    return !all.empty() && (q.role == QuantRole::Activation || std::ranges::all_of(all, [](const Place& place) {
        return place.codes.has_value();
    }));
}

/// Codes of another quantizer in other places: whoever reads them has the parameters.
bool FilePatch::isMoved(uint32_t index) const
{
    const Quantizer& q = quantizer(index);
    return !q.dynamic && q.quantize.valid() && passesOn(m_plan.graph().node(q.quantize));
}

std::optional<uint32_t> FilePatch::passedFrom(uint32_t index) const
{
    const Quantizer& q = quantizer(index);
    const Graph& graph = m_plan.graph();
    ValueId value = isMoved(index) ? q.codes : q.real;
    while (value.valid() && graph.value(value).producer.valid()) {
        const Node& node = graph.node(graph.value(value).producer);
        if (!passesOn(node) || !node.hasInput(0))
            return std::nullopt;
        value = node.inputs[0];
        if (const auto from = m_pair.quantView->ofQuantized(value))
            return from;
    }
    return std::nullopt;
}

std::vector<uint32_t> FilePatch::passedTo(uint32_t index) const
{
    std::vector<uint32_t> to;
    const auto& all = m_pair.quantView->quantizers();
    for (uint32_t other = 0; other < all.size(); ++other)
        if (other != index && all[other].role == QuantRole::Activation && passedFrom(other) == index)
            to.push_back(other);
    return to;
}

std::set<uint32_t> FilePatch::sharing(uint32_t index) const
{
    std::set<uint32_t> found { index };
    std::vector<uint32_t> open { index };
    while (!open.empty()) {
        const uint32_t q = open.back();
        open.pop_back();
        std::vector<uint32_t> next = passedTo(q);
        if (const auto from = passedFrom(q))
            next.push_back(*from);
        for (uint32_t other = 0; other < m_pair.quantView->quantizers().size(); ++other)
            if (quantizer(q).real.valid() && quantizer(other).real == quantizer(q).real)
                next.push_back(other); // a pair of another reader's own
        for (const auto& [written, read] : m_caches)
            if (written == q || read == q)
                next.push_back(written == q ? read : written);
        for (const uint32_t other : next)
            if ((isChangeable(other) || isMoved(other)) && equalParams(quantizer(other).params, quantizer(q).params)
                && found.insert(other).second)
                open.push_back(other);
    }
    return found;
}

QuantParams FilePatch::rangeParams(uint32_t index, double low, double high) const
{
    QuantParams next = quantizer(index).params;
    if (!isInteger(next.dtype)) { // the largest value becomes the largest code, and zero stays zero
        next.scale = { float(std::max(std::fabs(low), std::fabs(high)) / codeValues(next.dtype).high) };
        return next;
    }
    const bool symmetric = isSymmetric(next);
    ScaleRules rules;
    rules.type = next.dtype;
    rules.symmetric = symmetric;
    rules.kept = next.kept; // as many steps as a Clip leaves
    const ScaleZero found = scaleAndZeroPoint(low, high, rules);
    next.scale = { found.scale };
    next.zeroPoint = { symmetric ? next.zeroPoint.front() : found.zeroPoint };
    next.axis.reset();
    return next;
}

Status FilePatch::setRange(uint32_t index, double low, double high)
{
    const bool made = quantizer(index).real.valid() || quantizer(index).quantize.valid(); // by a node of the file
    if (!isChangeable(index) || !made)
        return refuse(index, "it is no pair of QuantizeLinear and DequantizeLinear");
    const std::set<uint32_t> group = sharing(index);
    for (const uint32_t q : group)
        if (const auto set = m_ranges.find(q); set != m_ranges.end()) {
            low = std::min(low, set->second.first);
            high = std::max(high, set->second.second);
        }
    for (const uint32_t q : group) {
        m_ranges[q] = { low, high };
        QS_CHECK(setParams(q, rangeParams(q, low, high)));
    }
    return {};
}

void FilePatch::setInput(DraftNode& node, size_t slot, const std::string& name)
{
    if (node.inputs.size() <= slot)
        node.inputs.resize(slot + 1);
    node.inputs[slot] = name;
}

Status FilePatch::setParams(uint32_t index, const QuantParams& next)
{
    if (m_bypassed.contains(index))
        return {}; // nothing is left of it
    const Quantizer& q = quantizer(index);
    const std::vector<Place> all = places(index);
    const auto first = std::ranges::find_if(all, [](const Place& place) { return place.scale.has_value(); });
    m_params[index] = next;
    if (first == all.end())
        return {}; // a bias, whose scale follows from the others
    const Node& reader = m_plan.graph().node(first->node);
    const Tensor* scale = reader.hasInput(*first->scale) ? m_plan.constant(reader.inputs[*first->scale]) : nullptr;
    if (!scale)
        return refuse(index, "its scale is computed");
    const std::string base = nameOf(q.shown()) + "_mended";
    const Shape shape = next.scale.size() == 1 && scale->count() == 1 ? scale->shape()
        : next.scale.size() == 1                                      ? Shape {}
                                                                      : Shape { int64_t(next.scale.size()) };
    std::vector<int32_t> zeros = next.zeroPoint;
    zeros.resize(next.scale.size(), 0);
    m_draft.setConstant(base + "_scale", realTensor(scale->dtype(), shape, next.scale));
    const bool integer = isInteger(next.dtype); // a zero point of floats is zero, and tells the type
    if (integer)
        m_draft.setConstant(base + "_zero_point", codeTensor(next.dtype, shape, zeros));
    for (const Place& place : all) {
        DraftNode& node = m_draft.nodes[place.node.index()];
        if (place.scale)
            setInput(node, *place.scale, base + "_scale");
        if (place.zeroPoint && integer)
            setInput(node, *place.zeroPoint, base + "_zero_point");
        if (next.axis && !qlinearSignature(m_plan.graph().node(place.node))) {
            node.attributes.set("axis", *next.axis);
            node.attributesChanged = true;
        }
    }
    return {};
}

void FilePatch::pass(DraftNode& node, const std::string& source, const PairActivation& bounds)
{
    const std::string value = node.outputs[0];
    node.opType = bounds.bounded() ? "Clip" : "Identity";
    node.domain.clear();
    node.attributes = {};
    node.attributesChanged = true;
    node.inputs = { source };
    if (!bounds.bounded())
        return;
    const float low = std::max(bounds.low, std::numeric_limits<float>::lowest());
    const float high = std::min(bounds.high, std::numeric_limits<float>::max());
    if (m_draft.opsets[""] < kClipByInputs) {
        node.attributes.set("min", low);
        node.attributes.set("max", high);
        return;
    }
    node.inputs.insert(node.inputs.end(), { value + "_low", value + "_high" });
    m_draft.setConstant(value + "_low", Tensor::scalar(low));
    m_draft.setConstant(value + "_high", Tensor::scalar(high));
}

std::optional<std::string> FilePatch::floatSource(uint32_t index)
{
    const Quantizer& q = quantizer(index);
    if (q.role == QuantRole::Activation)
        return q.real.valid() ? std::optional(nameOf(q.real)) : std::nullopt;
    auto value = partner(index);
    if (!value)
        value = dequantizedOf(index);
    if (!value)
        return std::nullopt;
    const std::string name = nameOf(q.shown()) + "_float";
    m_draft.setConstant(name, std::move(*value));
    return name;
}

Status FilePatch::bypass(uint32_t index)
{
    if (!m_bypassed.insert(index).second)
        return {};
    if (const auto readers = blockReaders(index); !readers.empty()) {
        for (const size_t reader : readers)
            QS_CHECK(bypassBlocks(NodeId(reader)));
        return {};
    }
    const auto source = isPair(index) ? floatSource(index) : std::nullopt;
    if (!source)
        return refuse(index, "its float values are not in the file");
    const auto activation = m_activations.find(index);
    for (const NodeId id : quantizer(index).dequantize)
        pass(m_draft.nodes[id.index()], *source,
            activation == m_activations.end() ? PairActivation {} : activation->second);
    return {};
}

std::optional<uint32_t> FilePatch::outputQuantizer(NodeId node) const
{
    for (const ValueId out : m_plan.graph().node(node).outputs)
        if (out.valid())
            if (const auto q = m_pair.quantView->ofValue(out); q && quantizer(*q).real == out)
                return q;
    return std::nullopt;
}

bool FilePatch::servesQuantized(NodeId id) const
{
    return outputQuantizer(id)
        || std::ranges::find(m_pair.quantView->units(), id, &QuantUnit::node) != m_pair.quantView->units().end();
}

Status FilePatch::bypassNode(NodeId id)
{
    const auto& units = m_pair.quantView->units();
    const auto unit = std::ranges::find(units, id, &QuantUnit::node);
    std::vector<uint32_t> whole;
    for (const uint32_t q : unit == units.end() ? std::vector<uint32_t>() : unit->inputs) {
        bool read = false;
        DraftNode& node = m_draft.nodes[id.index()];
        const auto activation = m_activations.find(q);
        const bool bounded = activation != m_activations.end() && activation->second.bounded();
        for (const NodeId dq : quantizer(q).dequantize)
            for (std::string& in : node.inputs)
                if (quantizer(q).role == QuantRole::Activation && quantizer(q).real.valid() && !bounded
                    && in == nameOf(m_plan.graph().node(dq).outputs[0])) {
                    in = nameOf(quantizer(q).real);
                    read = true;
                }
        if (!read) // a constant, or seen through other nodes
            whole.push_back(q);
    }
    for (const ValueId out : m_plan.graph().node(id).outputs)
        for (uint32_t q = 0; out.valid() && q < m_pair.quantView->quantizers().size(); ++q)
            if (quantizer(q).real == out)
                whole.push_back(q);
    if (whole.empty() && unit == units.end()) {
        Issue issue = badInput("nothing that serves this node is quantized", m_plan.model().path, {});
        issue.node = m_plan.graph().node(id).name;
        return issue;
    }
    for (const uint32_t q : whole)
        QS_CHECK(bypass(q));
    return {};
}

Result<GraphDraft> FilePatch::take()
{
    for (const QuantUnit& unit : m_pair.quantView->units())
        QS_CHECK(alignBias(unit));
    m_draft.dropUnusedConstants();
    return std::move(m_draft);
}

} // namespace qs
