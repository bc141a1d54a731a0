// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/prepare/fuse/fuse_dequantizing.h"

#include "core/graph/domains.h"
#include "core/prepare/body_copy.h"
#include "core/prepare/fuse/pattern_graph.h"
#include "core/prepare/plan_constant.h"
#include "core/qdq/qlinear_signature.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

namespace qs {

namespace {

constexpr int64_t kFirstDequantize = 10, kFirstWithAxis = 13; ///< opsets
constexpr double kBesideWhole = 1e-3; ///< of a code, or relatively: numbers that were rounded to float32
/// What moves elements, be they codes or reals.
constexpr std::array kMovesBefore { "Transpose", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity" };

bool movesBefore(const DraftNode& node)
{
    return node.domain.empty() && std::ranges::find(kMovesBefore, node.opType) != kMovesBefore.end();
}

int64_t opsetOf(const GraphDraft& draft)
{
    const auto it = draft.opsets.find("");
    return it == draft.opsets.end() ? 0 : it->second;
}

/// One step by a number: what it makes of a * code + b.
struct NumberStep {
    std::string opType;
    double number = 0;
};

/// Of a standard Add, Sub, Mul or Div that reads `value` first, or in any place of the first and third.
template <class N, class NameOf>
std::optional<NumberStep> numberStep(const N& node, const std::string& value, const Plan& plan, const NameOf& nameOf)
{
    const bool known = node.is("Add") || node.is("Sub") || node.is("Mul") || node.is("Div");
    if (!known || node.inputs.size() != 2)
        return std::nullopt;
    const bool first = nameOf(node.inputs[0]) == value;
    if (!first && (node.is("Sub") || node.is("Div")))
        return std::nullopt;
    const Tensor* number = constantOf(plan, nameOf(node.inputs[first ? 1 : 0]));
    if (!number || number->count() != 1 || number->rank() > 1 || !isFloat(number->dtype()))
        return std::nullopt;
    return NumberStep { node.opType, toDoubles(*number)[0] };
}

/// The first step by a number that a model takes its input through, behind nodes that only move elements.
std::optional<NumberStep> firstStep(const Plan& plan, const std::string& input)
{
    const Graph& graph = plan.graph();
    ValueId at = graph.findValue(input);
    while (at.valid() && graph.value(at).uses.size() == 1 && graph.value(at).uses[0].node.valid()) {
        const Node& reader = graph.node(graph.value(at).uses[0].node);
        const std::string name = graph.value(at).name;
        const auto nameOf = [&](ValueId id) { return id.valid() ? graph.value(id).name : std::string(); };
        const bool passes
            = reader.domain.empty() && std::ranges::find(kMovesBefore, reader.opType) != kMovesBefore.end();
        if (!passes || !reader.hasOutput(0))
            return numberStep(reader, name, plan, nameOf);
        at = reader.outputs[0];
    }
    return std::nullopt;
}

bool isSame(const NumberStep& a, const std::optional<NumberStep>& b)
{
    return b && a.opType == b->opType && std::fabs(a.number - b->number) <= kBesideWhole * std::fabs(a.number);
}

/// The zero point, of the codes' type; nothing where it is none of them.
std::optional<Tensor> zeroPoint(DType type, double value)
{
    const double whole = std::nearbyint(value);
    const auto range = codeRange(type);
    if (!range || std::fabs(value - whole) > kBesideWhole || whole < double(range->low) || whole > double(range->high))
        return std::nullopt;
    switch (type) {
    case DType::Int8:
        return Tensor::scalar(int8_t(whole));
    case DType::UInt8:
        return Tensor::scalar(uint8_t(whole));
    case DType::Int16:
        return Tensor::scalar(int16_t(whole));
    case DType::UInt16:
        return Tensor::scalar(uint16_t(whole));
    default:
        return std::nullopt;
    }
}

/// From a Cast of codes on.
class DequantizingChain {
public:
    DequantizingChain(const PatternGraph& graph, const Plan& plan, DType codes, std::optional<NumberStep> ofReals)
        : m_graph(graph)
        , m_plan(plan)
        , m_codes(codes)
        , m_ofReals(std::move(ofReals))
    {
    }
    /// False where that is not what the nodes behind it do.
    bool follow(size_t cast)
    {
        const DraftNode& first = m_graph.draft().nodes[cast];
        if (first.attributes.integer("to", 0) != int64_t(DType::Float32) || !first.hasOutput(0))
            return false;
        pattern.nodes = { cast };
        std::string value = first.outputs[0];
        bool scaled = false, moved = false;
        while (!scaled || !moved) {
            if (!m_graph.links().readOnce(value))
                break;
            const size_t reader = m_graph.links().readers(value).front();
            const DraftNode& node = m_graph.draft().nodes[reader];
            const auto step = numberStep(node, value, m_plan, [](const std::string& name) { return name; });
            const bool scales = step && (step->opType == "Mul" || step->opType == "Div");
            if (!step || (scales ? scaled : moved) || isSame(*step, m_ofReals) || !node.hasOutput(0))
                break;
            if (!scales && scaled
                && !zeroPoint(m_codes, -(offset + (step->opType == "Add" ? 1 : -1) * step->number) / factor))
                break; // the model's own
            take(*step);
            (scales ? scaled : moved) = true;
            pattern.nodes.insert(reader);
            pattern.last = reader;
            value = node.outputs[0];
        }
        return scaled && std::isfinite(factor) && factor > 0;
    }
    FoundPattern pattern;
    double factor = 1, offset = 0; ///< of the codes

private:
    void take(const NumberStep& step)
    {
        const double by = step.opType == "Mul" ? step.number : step.opType == "Div" ? 1 / step.number : 1;
        factor *= by;
        offset = offset * by + (step.opType == "Add" ? step.number : step.opType == "Sub" ? -step.number : 0);
    }
    const PatternGraph& m_graph;
    const Plan& m_plan;
    DType m_codes;
    std::optional<NumberStep> m_ofReals;
};

/// The Casts that read an input behind nodes that only move its elements; nothing where anything else does.
std::optional<std::vector<size_t>> castsOf(const PatternGraph& graph, const std::string& input)
{
    const GraphDraft& draft = graph.draft();
    std::vector<size_t> casts;
    std::vector<std::string> open { input };
    while (!open.empty()) {
        const std::string value = open.back();
        open.pop_back();
        if (draft.isOutput(value) || draft.isCaptured(value))
            return std::nullopt;
        for (const size_t reader : graph.links().readers(value)) {
            const DraftNode& node = draft.nodes[reader];
            if (node.inputs[0] != value || !node.hasOutput(0) || !(movesBefore(node) || node.is("Cast")))
                return std::nullopt;
            if (node.is("Cast"))
                casts.push_back(reader);
            else
                open.push_back(node.outputs[0]);
        }
    }
    return casts.empty() ? std::nullopt : std::optional(std::move(casts));
}

} // namespace

size_t fuseInputDequantizing(
    GraphDraft& draft, const Plan& plan, const std::string& input, const Plan& reals, const std::string& realInput)
{
    const ValueId id = plan.graph().findValue(input);
    const PatternGraph graph(draft);
    FreeNames names(draft);
    const auto casts = id.valid() && opsetOf(draft) >= kFirstDequantize ? castsOf(graph, input) : std::nullopt;
    if (!casts)
        return 0;
    const DType codes = plan.graph().value(id).type.dtype;
    std::vector<FoundPattern> found;
    std::vector<std::pair<std::string, Tensor>> constants;
    for (const size_t cast : *casts) {
        DequantizingChain chain(graph, plan, codes, firstStep(reals, realInput));
        const auto zero = chain.follow(cast) ? zeroPoint(codes, -chain.offset / chain.factor) : std::nullopt;
        if (!zero)
            return 0;
        const bool wide = zero->dtype() == DType::Int16 || zero->dtype() == DType::UInt16;
        const std::string& made = draft.nodes[chain.pattern.last].outputs[0];
        const std::string scale = names.value(made + "_scale"), point = names.value(made + "_zero_point");
        constants.emplace_back(scale, Tensor::scalar(float(chain.factor)));
        constants.emplace_back(point, *zero);
        chain.pattern.node.opType = "DequantizeLinear";
        chain.pattern.node.domain = wide ? kMicrosoftDomain : "";
        chain.pattern.node.inputs = { draft.nodes[cast].inputs[0], scale, point };
        if (wide)
            draft.opsets.try_emplace(kMicrosoftDomain, 1);
        found.push_back(std::move(chain.pattern));
    }
    PassReport report;
    applyPatterns(draft, std::move(found), true, report);
    for (auto& [name, value] : constants)
        draft.setConstant(name, std::move(value));
    return report.changes;
}

namespace {

constexpr double kLeastCode = 2; ///< the largest of ones and zeros is less: these choose and mask
constexpr int64_t kFewestCodes = 16;

bool holdsCodes(const Tensor& w)
{
    if (w.dtype() != DType::Float32 || w.rank() != 2 || w.count() < kFewestCodes)
        return false;
    float largest = 0;
    for (const float v : w.data<float>()) {
        if (v != std::nearbyint(v) || v < float(std::numeric_limits<int8_t>::min())
            || v > float(std::numeric_limits<int8_t>::max()))
            return false;
        largest = std::max(largest, std::fabs(v));
    }
    return largest >= kLeastCode;
}

/// Scales of columns: one for all, or as many as there are columns, along the last axis.
bool scalesColumns(const Tensor& scale, int64_t columns)
{
    if (scale.dtype() != DType::Float32 || (scale.count() != 1 && scale.count() != columns)
        || (scale.count() > 1 && scale.dim(scale.rank() - 1) != columns) || scale.rank() > 2)
        return false;
    return std::ranges::all_of(scale.data<float>(), [](float v) { return v > 0 && std::isfinite(v); });
}

struct WholeProduct {
    NodeId product, scaling;
    ValueId weight, scale;
};

std::optional<WholeProduct> wholeProduct(const Plan& plan, NodeId id)
{
    const Graph& graph = plan.graph();
    const Node& node = graph.node(id);
    if (!node.is("MatMul") || !node.hasInput(0) || !node.hasInput(1) || !node.hasOutput(0)
        || plan.constant(node.outputs[0]) || graph.isOutput(node.outputs[0]))
        return std::nullopt;
    const Tensor* w = plan.constant(node.inputs[1]);
    const auto& uses = graph.value(node.outputs[0]).uses;
    if (!w || uses.size() != 1 || !uses[0].node.valid() || !graph.node(uses[0].node).is("Mul") || !holdsCodes(*w))
        return std::nullopt;
    const Node& scaling = graph.node(uses[0].node);
    const ValueId scale = scaling.inputs.size() == 2 ? scaling.inputs[1 - uses[0].slot] : ValueId();
    const Tensor* s = scale.valid() ? plan.constant(scale) : nullptr;
    if (!s || !scaling.hasOutput(0) || !scalesColumns(*s, w->dim(1)))
        return std::nullopt;
    return WholeProduct { id, uses[0].node, node.inputs[1], scale };
}

std::vector<WholeProduct> wholeProducts(const Plan& plan)
{
    std::vector<WholeProduct> found;
    for (size_t n = 0; n < plan.graph().nodes().size(); ++n)
        if (const auto product = wholeProduct(plan, NodeId(n)))
            found.push_back(*product);
    return found;
}

DraftNode dequantizing(GraphDraft& draft, FreeNames& names, const std::string& weight, const Tensor& w, const Tensor& s)
{
    const std::vector<float> values = toFloats(w);
    const std::string codes = names.value(weight + "_quantized"), scale = names.value(weight + "_scale");
    draft.setConstant(codes, Tensor::of<int8_t>(w.shape(), std::vector<int8_t>(values.begin(), values.end())));
    draft.setConstant(
        scale, s.count() == 1 ? Tensor::scalar(toFloats(s)[0]) : Tensor::of<float>({ s.count() }, toFloats(s)));
    DraftNode node { {}, codes + "_DequantizeLinear", "DequantizeLinear", {}, { codes, scale },
        { names.value(weight + "_dequantized") }, {} };
    if (s.count() > 1)
        node.attributes.set("axis", int64_t(1));
    return node;
}

} // namespace

bool hasWholeProducts(const Plan& plan) { return !wholeProducts(plan).empty(); }

size_t fuseWholeProducts(GraphDraft& draft, const Plan& plan)
{
    const Graph& graph = plan.graph();
    if (opsetOf(draft) < kFirstWithAxis)
        return 0;
    FreeNames names(draft);
    size_t made = 0;
    for (const WholeProduct& whole : wholeProducts(plan)) {
        const auto product = std::ranges::find(draft.nodes, whole.product, &DraftNode::origin),
                   scaling = std::ranges::find(draft.nodes, whole.scaling, &DraftNode::origin);
        if (product == draft.nodes.end() || scaling == draft.nodes.end() || draft.isCaptured(product->outputs[0]))
            continue;
        DraftNode reads = dequantizing(
            draft, names, graph.value(whole.weight).name, *plan.constant(whole.weight), *plan.constant(whole.scale));
        product->inputs[1] = reads.outputs[0];
        product->outputs = scaling->outputs;
        draft.nodes.erase(scaling);
        draft.nodes.push_back(std::move(reads));
        ++made;
    }
    draft.dropUnusedConstants();
    return made;
}

} // namespace qs
