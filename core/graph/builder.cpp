// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/graph.h"

#include <algorithm>
#include <queue>
#include <unordered_set>

namespace qs {

namespace {

Issue graphIssue(std::string what, std::string node, std::string tensor, std::string remedy)
{
    return { IssueKind::BadInput, std::move(what), {}, std::move(node), std::move(tensor), std::move(remedy) };
}

} // namespace

GraphBuilder::GraphBuilder(std::string name) { m_graph.m_name = std::move(name); }

ValueId GraphBuilder::value(std::string_view name)
{
    if (name.empty())
        return {};
    const auto [it, fresh] = m_graph.m_valueByName.try_emplace(std::string(name), ValueId(m_graph.m_values.size()));
    if (fresh) {
        m_graph.m_values.emplace_back();
        m_graph.m_values.back().name = name;
    }
    return it->second;
}

void GraphBuilder::setType(ValueId id, ValueType type) { m_graph.m_values[id.index()].type = std::move(type); }

void GraphBuilder::setInitializer(ValueId id, Tensor tensor)
{
    Value& v = m_graph.m_values[id.index()];
    v.type = { tensor.dtype(), toDims(tensor.shape()), {} };
    v.initializer = std::move(tensor);
}

void GraphBuilder::addInput(ValueId id) { m_graph.m_inputs.push_back(id); }
void GraphBuilder::addOutput(ValueId id) { m_graph.m_outputs.push_back(id); }
void GraphBuilder::allowOuter(std::string_view name) { m_outer.emplace_back(name); }

NodeId GraphBuilder::addNode(Node node)
{
    m_graph.m_nodes.push_back(std::move(node));
    return NodeId(m_graph.m_nodes.size() - 1);
}

Result<Graph> GraphBuilder::finish() &&
{
    Graph& g = m_graph;
    // Initializers listed as inputs (IR version 3) are constants.
    std::erase_if(g.m_inputs, [&](ValueId id) { return g.m_values[id.index()].initializer.has_value(); });
    for (size_t n = 0; n < g.m_nodes.size(); ++n)
        for (ValueId out : g.m_nodes[n].outputs) {
            if (!out.valid())
                continue;
            Value& v = g.m_values[out.index()];
            if (v.producer.valid() || v.initializer || g.isInput(out))
                return graphIssue("is made twice", g.m_nodes[n].name, v.name,
                    "a value may have one producer only; export the model again");
            v.producer = NodeId(n);
        }
    std::unordered_set<std::string> outer(m_outer.begin(), m_outer.end());
    std::vector<bool> given(g.m_values.size(), false);
    for (ValueId id : g.m_inputs)
        given[id.index()] = true;
    auto reads = [&](const Node& node, auto&& visit) {
        for (ValueId in : node.inputs)
            if (in.valid())
                visit(in);
        for (ValueId in : node.captures)
            if (in.valid())
                visit(in);
    };
    auto makes = [&](ValueId id) {
        const Value& v = g.m_values[id.index()];
        return v.producer.valid() || v.initializer || given[id.index()] || outer.contains(v.name);
    };
    std::vector<uint32_t> missing(g.m_nodes.size(), 0);
    std::vector<std::vector<uint32_t>> readers(g.m_nodes.size());
    std::optional<Issue> issue;
    for (size_t n = 0; n < g.m_nodes.size(); ++n)
        reads(g.m_nodes[n], [&](ValueId in) {
            const Value& v = g.m_values[in.index()];
            if (!makes(in) && !issue)
                issue = graphIssue("is read, but no node, input or initializer provides it", g.m_nodes[n].name, v.name,
                    "export the model again");
            if (v.producer.valid()) {
                ++missing[n];
                readers[v.producer.index()].push_back(static_cast<uint32_t>(n));
            }
        });
    for (ValueId out : g.m_outputs)
        if (!makes(out) && !issue)
            issue = graphIssue("is a graph output, but nothing provides it", {}, g.m_values[out.index()].name,
                "export the model again");
    if (issue)
        return *issue;
    // Kahn's algorithm; the smallest file index first keeps files that are already sorted as they are.
    std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready;
    for (size_t n = 0; n < g.m_nodes.size(); ++n)
        if (missing[n] == 0)
            ready.push(static_cast<uint32_t>(n));
    std::vector<Node> sorted;
    sorted.reserve(g.m_nodes.size());
    std::vector<uint32_t> newIndex(g.m_nodes.size(), UINT32_MAX);
    while (!ready.empty()) {
        const uint32_t n = ready.top();
        ready.pop();
        newIndex[n] = static_cast<uint32_t>(sorted.size());
        sorted.push_back(std::move(g.m_nodes[n]));
        for (uint32_t reader : readers[n])
            if (--missing[reader] == 0)
                ready.push(reader);
    }
    if (sorted.size() < newIndex.size()) {
        // What is left reads something that is left too: going back along these reads ends in a cycle.
        auto leftProducer = [&](uint32_t n) {
            uint32_t found = n;
            reads(g.m_nodes[n], [&](ValueId in) {
                const NodeId producer = g.m_values[in.index()].producer;
                if (producer.valid() && newIndex[producer.index()] == UINT32_MAX)
                    found = producer.v;
            });
            return found;
        };
        auto n = static_cast<uint32_t>(std::ranges::find(newIndex, UINT32_MAX) - newIndex.begin());
        for (size_t i = 0; i < newIndex.size(); ++i)
            n = leftProducer(n);
        return graphIssue(
            "is part of a cycle", g.m_nodes[n].name, {}, "an ONNX graph must not have cycles; export the model again");
    }
    g.m_nodes = std::move(sorted);
    for (Value& v : g.m_values)
        v.producer = NodeId();
    for (size_t n = 0; n < g.m_nodes.size(); ++n) {
        const Node& node = g.m_nodes[n];
        g.m_nodeByName.try_emplace(node.name, NodeId(n));
        for (ValueId out : node.outputs)
            if (out.valid())
                g.m_values[out.index()].producer = NodeId(n);
        for (size_t i = 0; i < node.inputs.size(); ++i)
            if (node.inputs[i].valid())
                g.m_values[node.inputs[i].index()].uses.push_back({ NodeId(n), i });
    }
    return std::move(m_graph);
}

} // namespace qs
