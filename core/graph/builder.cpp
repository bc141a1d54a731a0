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

template <class Visit> void forEachRead(const Node& node, const Visit& visit)
{
    for (const auto* list : { &node.inputs, &node.captures })
        for (ValueId in : *list)
            if (in.valid())
                visit(in);
}

/// The first value that is read or asked for and that nothing makes; `outer`: names that come from a graph around.
std::optional<Issue> missingValue(const Graph& g, const std::unordered_set<std::string>& outer)
{
    std::vector<bool> given(g.values().size(), false);
    for (ValueId id : g.inputs())
        given[id.index()] = true;
    const auto made = [&](ValueId id) {
        const Value& v = g.value(id);
        return v.producer.valid() || v.initializer || given[id.index()] || outer.contains(v.name);
    };
    for (const Node& node : g.nodes()) {
        ValueId missing;
        forEachRead(node, [&](ValueId in) { missing = missing.valid() || made(in) ? missing : in; });
        if (missing.valid())
            return graphIssue("is read, but no node, input or initializer provides it", node.name,
                g.value(missing).name, "export the model again");
    }
    for (ValueId out : g.outputs())
        if (!made(out))
            return graphIssue(
                "is a graph output, but nothing provides it", {}, g.value(out).name, "export the model again");
    return std::nullopt;
}

/// Kahn's algorithm; the smallest file index first keeps files that are already sorted as they are. Nodes of cycles and
/// behind them are left out.
std::vector<uint32_t> topologicalOrder(const Graph& g)
{
    std::vector<uint32_t> missing(g.nodes().size(), 0);
    std::vector<std::vector<uint32_t>> readers(g.nodes().size());
    for (uint32_t n = 0; n < g.nodes().size(); ++n)
        forEachRead(g.nodes()[n], [&](ValueId in) {
            if (const NodeId producer = g.value(in).producer; producer.valid()) {
                ++missing[n];
                readers[producer.index()].push_back(n);
            }
        });
    std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready;
    for (uint32_t n = 0; n < g.nodes().size(); ++n)
        if (missing[n] == 0)
            ready.push(n);
    std::vector<uint32_t> order;
    order.reserve(g.nodes().size());
    while (!ready.empty()) {
        const uint32_t n = ready.top();
        ready.pop();
        order.push_back(n);
        for (uint32_t reader : readers[n])
            if (--missing[reader] == 0)
                ready.push(reader);
    }
    return order;
}

/// Of a graph some nodes of which have no place in `order`: each of them reads something that has none either, so going
/// back along these reads ends in a cycle.
Issue cycleIssue(const Graph& g, const std::vector<uint32_t>& order)
{
    std::vector<bool> left(g.nodes().size(), true);
    for (const uint32_t n : order)
        left[n] = false;
    auto n = static_cast<uint32_t>(std::ranges::find(left, true) - left.begin());
    for (size_t i = 0; i < left.size(); ++i) {
        uint32_t before = n;
        forEachRead(g.nodes()[n], [&](ValueId in) {
            const NodeId producer = g.value(in).producer;
            if (producer.valid() && left[producer.index()])
                before = producer.v;
        });
        n = before;
    }
    return graphIssue(
        "is part of a cycle", g.nodes()[n].name, {}, "an ONNX graph must not have cycles; export the model again");
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
    // Initializers listed as inputs (IR version 3) are constants.
    std::erase_if(m_graph.m_inputs, [&](ValueId id) { return m_graph.value(id).initializer.has_value(); });
    QS_CHECK(bindProducers());
    if (auto issue = missingValue(m_graph, { m_outer.begin(), m_outer.end() }))
        return std::move(*issue);
    const std::vector<uint32_t> order = topologicalOrder(m_graph);
    if (order.size() < m_graph.nodes().size())
        return cycleIssue(m_graph, order);
    reorder(order);
    linkUses();
    return std::move(m_graph);
}

Status GraphBuilder::bindProducers()
{
    for (size_t n = 0; n < m_graph.m_nodes.size(); ++n)
        for (ValueId out : m_graph.m_nodes[n].outputs) {
            if (!out.valid())
                continue;
            Value& v = m_graph.m_values[out.index()];
            if (v.producer.valid() || v.initializer || m_graph.isInput(out))
                return graphIssue("is made twice", m_graph.m_nodes[n].name, v.name,
                    "a value may have one producer only; export the model again");
            v.producer = NodeId(n);
        }
    return {};
}

void GraphBuilder::reorder(const std::vector<uint32_t>& order)
{
    std::vector<Node> sorted;
    sorted.reserve(order.size());
    for (const uint32_t n : order)
        sorted.push_back(std::move(m_graph.m_nodes[n]));
    m_graph.m_nodes = std::move(sorted);
}

/// Sorted nodes that an output follows from; all of them where there is no output.
std::vector<bool> GraphBuilder::leadingToOutputs() const
{
    std::vector<bool> needed(m_graph.m_values.size(), m_graph.m_outputs.empty());
    std::vector<bool> leads(m_graph.m_nodes.size());
    for (const ValueId out : m_graph.m_outputs)
        if (out.valid())
            needed[out.index()] = true;
    for (size_t n = leads.size(); n-- > 0;) {
        const Node& node = m_graph.m_nodes[n];
        leads[n] = std::ranges::any_of(node.outputs, [&](ValueId v) { return v.valid() && needed[v.index()]; });
        for (const auto* read : { &node.inputs, &node.captures })
            for (const ValueId v : *read)
                if (leads[n] && v.valid())
                    needed[v.index()] = true;
    }
    return leads;
}

/// Producers by their places in the new order, and who reads each value.
void GraphBuilder::linkUses()
{
    m_graph.m_leads = leadingToOutputs();
    for (size_t n = 0; n < m_graph.m_nodes.size(); ++n) {
        const Node& node = m_graph.m_nodes[n];
        m_graph.m_nodeByName.try_emplace(node.name, NodeId(n));
        for (ValueId out : node.outputs)
            if (out.valid())
                m_graph.m_values[out.index()].producer = NodeId(n);
        for (size_t i = 0; i < node.inputs.size(); ++i)
            if (node.inputs[i].valid() && m_graph.m_leads[n])
                m_graph.m_values[node.inputs[i].index()].uses.push_back({ NodeId(n), i });
    }
}

} // namespace qs
