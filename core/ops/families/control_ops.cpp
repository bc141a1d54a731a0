// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/ops/fact_tools.h"
#include "core/tensor/convert.h"

#include <algorithm>

/// Operators that run graphs of their own.
namespace qs {

namespace {

using Facts = std::vector<Fact>;

const Graph* subgraph(const Node& node, const std::string& attribute)
{
    const auto* g = node.attributes.get<std::shared_ptr<const Graph>>(attribute);
    return g ? g->get() : nullptr;
}

/// Facts of the outputs of a subgraph whose inputs are known as far as `inputs` says.
Facts outputsOf(const InferContext& c, const Graph& graph, const Facts& inputs)
{
    OuterFacts outer = c.captures ? *c.captures : OuterFacts {};
    for (size_t i = 0; i < graph.inputs().size(); ++i)
        outer[graph.value(graph.inputs()[i]).name]
            = i < inputs.size() ? subgraphInputFact(graph, i, inputs[i]) : Fact {};
    const InferredFacts inferred = inferFacts(graph, outer);
    Facts out;
    for (ValueId id : graph.outputs())
        out.push_back(inferred.of(id));
    return out;
}

bool nests(const Graph& graph)
{
    return std::ranges::any_of(graph.nodes(), [](const Node& n) {
        return std::ranges::any_of(n.attributes.all(),
            [](const auto& a) { return std::holds_alternative<std::shared_ptr<const Graph>>(a.second); });
    });
}

Result<Facts> inferIf(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    const Graph* thenGraph = subgraph(c.node, "then_branch");
    const Graph* elseGraph = subgraph(c.node, "else_branch");
    if (!thenGraph || !elseGraph)
        return inferIssue(c.node, "it needs a then_branch and an else_branch");
    const size_t count = c.node.outputs.size();
    if (thenGraph->outputs().size() < count || elseGraph->outputs().size() < count)
        return inferIssue(c.node, "its branches have fewer outputs than the node");
    if (const auto& condition = c.input(0)->value;
        condition && condition->dtype() == DType::Bool && condition->count() == 1) {
        Facts out = outputsOf(c, elementAsInt(*condition, 0) ? *thenGraph : *elseGraph, {});
        out.resize(count);
        return out;
    }
    const Facts a = outputsOf(c, *thenGraph, {}), b = outputsOf(c, *elseGraph, {});
    Facts out;
    for (size_t i = 0; i < count; ++i)
        out.push_back(commonFact(a[i], b[i]));
    return out;
}

/// Dims of one iteration's value with a size put in at `axis` (counted in the result).
std::optional<Dims> stacked(const std::optional<Dims>& dims, int64_t axis, const Dim& length)
{
    if (!dims)
        return std::nullopt;
    const auto a = normalizedAxis(axis, dims->size() + 1);
    if (!a)
        return std::nullopt;
    Dims out = *dims;
    out.insert(out.begin() + static_cast<std::ptrdiff_t>(*a), length);
    return out;
}

/// Outputs of a loop's body, and for the values at `from` (as many as `states`) what holds in every iteration: the
/// element type, and the dims where one iteration keeps them.
struct BodyFacts {
    Facts states;
    Facts outputs;
};
BodyFacts loopBody(
    const InferContext& c, const Graph& body, const Facts& before, Facts states, const Facts& after, size_t firstState)
{
    const auto run = [&](const Facts& s) {
        Facts inputs = before;
        inputs.insert(inputs.end(), s.begin(), s.end());
        inputs.insert(inputs.end(), after.begin(), after.end());
        Facts out = outputsOf(c, body, inputs);
        out.resize(std::max(out.size(), firstState + s.size()));
        return out;
    };
    for (Fact& f : states)
        f = f.dtype == DType::Sequence ? typeOnly(f) : fact(f.dtype, f.dims);
    if (!nests(body)) { // deep nests would be looked at again and again
        Facts out = run(states);
        bool same = true;
        for (size_t i = 0; i < states.size(); ++i)
            same = same && states[i].dims && out[firstState + i].dims == states[i].dims;
        if (same)
            return { std::move(states), std::move(out) };
    }
    for (Fact& f : states)
        f = typeOnly(f);
    Facts out = run(states);
    return { std::move(states), std::move(out) };
}

Result<Facts> inferLoop(const InferContext& c)
{
    const Graph* body = subgraph(c.node, "body");
    if (!body || c.node.inputs.size() < 2)
        return inferIssue(c.node, "it needs a body and two inputs");
    const size_t states = c.node.inputs.size() - 2;
    if (body->inputs().size() != states + 2 || body->outputs().size() < states + 1)
        return inferIssue(c.node, "its body does not fit its inputs");
    const Facts initial(c.inputs.begin() + 2, c.inputs.end());
    const Facts counted { fact(DType::Int64, loopInputDims(*body, 0)), fact(DType::Bool, loopInputDims(*body, 1)) };
    const BodyFacts b = loopBody(c, *body, counted, initial, {}, 1);
    Facts out;
    for (size_t i = 0; i < c.node.outputs.size() && i + 1 < b.outputs.size(); ++i) {
        const Fact& one = b.outputs[i + 1];
        if (i < states) {
            const bool optional = body->value(body->inputs()[i + 2]).type.container == "optional";
            const bool varies = optional || isContainer(b.states[i].dtype);
            out.push_back(varies ? commonFact(b.states[i], one) : b.states[i]);
        } else
            out.push_back(fact(one.dtype, stacked(one.dims, 0, unknownDim())));
    }
    return out;
}

/// The opset 8 form has lengths as input 0 and a batch axis in front of everything.
Result<Facts> inferScan(const InferContext& c)
{
    const Graph* body = subgraph(c.node, "body");
    const bool batched = c.node.opset > 0 && c.node.opset < 9;
    const size_t first = batched ? 1 : 0;
    const int64_t scans = c.node.attributes.integer("num_scan_inputs", 0);
    const auto given = static_cast<int64_t>(c.inputs.size()) - static_cast<int64_t>(first);
    if (!body || scans < 1 || scans > given || body->inputs().size() != static_cast<size_t>(given))
        return inferIssue(c.node, "its body does not fit its inputs");
    const auto states = static_cast<size_t>(given - scans);
    if (body->outputs().size() < states)
        return inferIssue(c.node, "its body does not fit its inputs");
    const auto element = [&](const Fact& f, int64_t axis, Dim* length) { // without the batch and the scanned axis
        Fact out = fact(f.dtype, f.dims);
        if (out.dims && batched && !out.dims->empty())
            out.dims->erase(out.dims->begin());
        const auto a = out.dims && length ? normalizedAxis(axis, out.dims->size()) : std::nullopt;
        if (a) {
            *length = (*out.dims)[*a];
            out.dims->erase(out.dims->begin() + static_cast<std::ptrdiff_t>(*a));
        } else if (length) {
            out.dims.reset();
        }
        return out;
    };
    Dim length;
    Facts initial, elements;
    const auto axes = c.node.attributes.integers("scan_input_axes");
    for (size_t i = 0; i < states; ++i)
        initial.push_back(element(c.inputs[first + i], 0, nullptr));
    for (size_t i = 0; i < static_cast<size_t>(scans); ++i) {
        Dim own;
        elements.push_back(element(c.inputs[first + states + i], i < axes.size() ? axes[i] : 0, &own));
        length = own.known() ? own : length;
    }
    const BodyFacts b = loopBody(c, *body, {}, initial, elements, 0);
    const Fact& any = c.inputs[first];
    const Dim batch = batched && any.dims && !any.dims->empty() ? any.dims->front() : unknownDim();
    const auto outAxes = c.node.attributes.integers("scan_output_axes");
    Facts out;
    for (size_t i = 0; i < std::min(c.node.outputs.size(), b.outputs.size()); ++i) {
        const bool state = i < states;
        const int64_t axis = !state && i - states < outAxes.size() ? outAxes[i - states] : 0;
        Fact f = state ? fact(b.states[i].dtype, b.states[i].dims)
                       : fact(b.outputs[i].dtype, stacked(b.outputs[i].dims, axis, length));
        if (batched)
            f.dims = stacked(f.dims, 0, batch);
        out.push_back(std::move(f));
    }
    return out;
}

/// The body gets one element of each sequence, and tensors as they are; its outputs become sequences.
Result<Facts> inferSequenceMap(const InferContext& c)
{
    const Graph* body = subgraph(c.node, "body");
    if (!body || body->inputs().size() != c.inputs.size() || body->outputs().size() < c.node.outputs.size())
        return inferIssue(c.node, "its body does not fit its inputs and outputs");
    Facts inputs;
    for (const Fact& f : c.inputs)
        inputs.push_back(
            f.dtype == DType::Sequence || f.dtype == DType::Undefined ? elementFact(&f) : fact(f.dtype, f.dims));
    Facts out;
    for (Fact& f : outputsOf(c, *body, inputs))
        out.push_back(sequenceFact(std::move(f)));
    out.resize(c.node.outputs.size());
    return out;
}

/// Which branch and how many iterations run is not known without data.
std::optional<int64_t> unknownMacs(const InferContext&, std::span<const Fact>) { return std::nullopt; }

} // namespace

void registerControlOps(OpRegistry& r)
{
    r.add({ "", "If", inferIf, Tolerance::Accumulation, unknownMacs });
    r.add({ "", "Loop", inferLoop, Tolerance::Accumulation, unknownMacs });
    r.add({ "", "Scan", inferScan, Tolerance::Accumulation, unknownMacs });
    r.add({ "", "SequenceMap", inferSequenceMap, Tolerance::Accumulation, unknownMacs });
}

} // namespace qs
