// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/ops/infer.h"

#include <algorithm>

namespace qs {

namespace {

/// Known parts of `declared` fill what inference left open.
void fillFrom(Fact& f, const ValueType& declared)
{
    if (isContainer(declared.dtype)) {
        if (f.dtype == DType::Undefined)
            f.dtype = declared.dtype;
        if (f.dtype == DType::Sequence && declared.element) {
            Fact element = f.element ? *f.element : Fact {};
            fillFrom(element, *declared.element);
            f.element = std::make_shared<const Fact>(std::move(element));
        }
    }
    if (!declared.container.empty())
        return;
    if (f.dtype == DType::Undefined)
        f.dtype = declared.dtype;
    if (!declared.dims)
        return;
    if (!f.dims) {
        f.dims = declared.dims;
        return;
    }
    if (f.dims->size() != declared.dims->size())
        return;
    for (size_t i = 0; i < f.dims->size(); ++i)
        if (!(*f.dims)[i].known() && ((*declared.dims)[i].known() || (*f.dims)[i].symbol.empty()))
            (*f.dims)[i] = (*declared.dims)[i];
}

} // namespace

Fact constantFact(const Tensor& tensor) { return { tensor.dtype(), toDims(tensor.shape()), tensor }; }

Fact fact(DType dtype, std::optional<Dims> dims) { return { dtype, std::move(dims), std::nullopt }; }

Issue inferIssue(const Node& node, std::string what, std::string remedy)
{
    return { IssueKind::BadInput, std::move(what), {}, node.name, {}, std::move(remedy) };
}

Result<std::optional<Dims>> broadcastDims(const Node& node, std::span<const Fact* const> inputs)
{
    size_t rank = 0;
    for (const Fact* f : inputs) {
        if (!f || !f->dims)
            return std::optional<Dims>();
        rank = std::max(rank, f->dims->size());
    }
    Dims out(rank, Dim { 1, {} });
    for (const Fact* f : inputs) {
        const size_t shift = rank - f->dims->size();
        for (size_t i = 0; i < f->dims->size(); ++i) {
            const Dim& d = (*f->dims)[i];
            Dim& o = out[i + shift];
            if (d.value == 1 || d == o)
                continue;
            if (o.value == 1)
                o = d;
            else if (o.known() && d.known())
                return inferIssue(node, "shapes do not broadcast: " + dimsText(out) + " and " + dimsText(*f->dims));
            else if (d.known())
                o = d; // the unknown one must be this size or 1
            else if (!o.known())
                o = Dim {};
        }
    }
    return std::optional<Dims>(std::move(out));
}

namespace {

/// `declared`: what the file says of values that nodes make fills what inference leaves open.
InferredFacts inferred(const Graph& graph, const OuterFacts& outer, bool declared)
{
    InferredFacts result;
    result.facts.resize(graph.values().size());
    for (size_t v = 0; v < graph.values().size(); ++v) {
        const Value& value = graph.values()[v];
        if (value.initializer)
            result.facts[v] = constantFact(*value.initializer);
        else if (!value.producer.valid()) {
            if (const auto known = outer.find(value.name); known != outer.end())
                result.facts[v] = known->second;
            fillFrom(result.facts[v], value.type);
        }
    }
    std::vector<Fact> inputs;
    OuterFacts captures;
    for (const Node& node : graph.nodes()) {
        inputs.clear();
        for (ValueId in : node.inputs)
            inputs.push_back(in.valid() ? result.facts[in.index()] : Fact {});
        std::vector<Fact> outputs;
        const bool certain
            = declared || (!node.is("If") && !node.is("Loop") && !node.is("Scan")); // bodies declare, too
        if (const Op* op = opRegistry().find(node); op && certain && !node.outputs.empty()) {
            captures.clear();
            for (ValueId in : node.captures)
                captures.emplace(graph.value(in).name, result.facts[in.index()]);
            auto inferred = op->infer({ node, inputs, &captures });
            if (inferred.ok())
                outputs = std::move(*inferred);
            else
                result.issues.push_back(std::move(inferred).issue());
        }
        outputs.resize(node.outputs.size());
        for (size_t i = 0; i < node.outputs.size(); ++i)
            if (node.outputs[i].valid()) {
                if (declared)
                    fillFrom(outputs[i], graph.value(node.outputs[i]).type);
                result.facts[node.outputs[i].index()] = std::move(outputs[i]);
            }
    }
    return result;
}

} // namespace

InferredFacts inferFacts(const Graph& graph, const OuterFacts& outer) { return inferred(graph, outer, true); }

InferredFacts inferFromInputs(const Graph& graph) { return inferred(graph, {}, false); }

} // namespace qs
