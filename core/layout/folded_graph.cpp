// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/layout/folded_graph.h"

#include <algorithm>
#include <map>

namespace qs {

namespace {

constexpr size_t kOuterScopes = 4;

/// Builds the boxes and edges in one pass over the nodes, which are in topological order.
class Folder {
public:
    Folder(const Graph& graph, const QuantView& quant, const ConstantLookup& constants, DimsLookup dims, FoldMode mode)
        : m_graph(graph)
        , m_quant(quant)
        , m_constants(constants)
        , m_dims(std::move(dims))
        , m_folded(mode == FoldMode::Folded)
    {
        if (!m_dims)
            m_dims = [&graph](ValueId id) { return graph.value(id).type.dims; };
        m_result.boxOfNode.assign(graph.nodes().size(), FoldedGraph::kNoBox);
        m_result.boxOfValue.assign(graph.values().size(), FoldedGraph::kNoBox);
    }

    FoldedGraph run() &&
    {
        for (const ValueId id : m_graph.inputs())
            addTerminal(DisplayBox::Kind::Input, id);
        for (size_t i = 0; i < m_graph.nodes().size(); ++i) {
            const NodeId id(i);
            if (hidden(id))
                addHidden(id);
            else
                addOperator(id);
        }
        for (const ValueId id : m_graph.outputs())
            connect(addTerminal(DisplayBox::Kind::Output, id), id);
        tellApart();
        return std::move(m_result);
    }

private:
    using Titles = std::map<std::string, std::vector<uint32_t>>;

    Titles operatorsByTitle() const
    {
        Titles titles;
        for (uint32_t b = 0; b < m_result.boxes.size(); ++b)
            if (m_result.boxes[b].kind == DisplayBox::Kind::Operator)
                titles[m_result.boxes[b].title].push_back(b);
        return titles;
    }

    const Node& nodeOf(uint32_t box) const { return m_graph.node(m_result.boxes[box].nodes.front()); }

    /// Repeated blocks have operators of the same name: those get the scopes around them, as many as it takes; where
    /// no scopes tell them apart, the part of the name that does.
    void tellApart()
    {
        const auto shared = [](const auto& entry) { return entry.second.size() > 1; };
        Titles titles = operatorsByTitle();
        for (size_t outer = 1; outer <= kOuterScopes && std::ranges::any_of(titles, shared); ++outer) {
            for (const auto& [title, boxes] : titles)
                for (const uint32_t b : boxes)
                    if (boxes.size() > 1)
                        m_result.boxes[b].title = boxTitle(nodeOf(b), outer);
            titles = operatorsByTitle();
        }
        for (const auto& [title, boxes] : titles)
            if (boxes.size() > 1)
                nameDifference(boxes);
    }

    void nameDifference(const std::vector<uint32_t>& boxes)
    {
        const std::string& first = nodeOf(boxes.front()).name;
        size_t head = first.size(), tail = first.size();
        for (const uint32_t b : boxes) {
            const std::string& name = nodeOf(b).name;
            const auto differ = std::mismatch(first.begin(), first.end(), name.begin(), name.end()).first;
            const auto differBack = std::mismatch(first.rbegin(), first.rend(), name.rbegin(), name.rend()).first;
            head = std::min(head, static_cast<size_t>(differ - first.begin()));
            tail = std::min(tail, static_cast<size_t>(differBack - first.rbegin()));
        }
        if (head == first.size())
            return; // all the same, or one begins with the other
        for (const uint32_t b : boxes) {
            const size_t length = nodeOf(b).name.size();
            m_result.boxes[b].title = differingTitle(nodeOf(b), head, std::min(tail, length - std::min(head, length)));
        }
    }

    bool constant(ValueId id) const
    {
        return m_graph.value(id).initializer.has_value() || (m_constants && m_constants(id) != nullptr);
    }

    bool hidden(NodeId id) const
    {
        if (!m_folded)
            return false;
        const Node& node = m_graph.node(id);
        if (m_quant.isPlumbing(id) || node.is("Constant"))
            return true;
        return !node.outputs.empty() && std::all_of(node.outputs.begin(), node.outputs.end(), [this](ValueId v) {
            return !v.valid() || constant(v);
        });
    }

    /// The input of a hidden node that carries its tensor: the first one that depends on data.
    ValueId carried(const Node& node) const
    {
        for (const ValueId id : node.inputs)
            if (id.valid() && m_result.boxOfValue[id.index()] != FoldedGraph::kNoBox)
                return id;
        return {};
    }

    uint32_t addTerminal(DisplayBox::Kind kind, ValueId id)
    {
        DisplayBox box;
        box.kind = kind;
        box.title = m_graph.value(id).name;
        box.subtitle = timesText(m_dims(id));
        box.values.push_back(id);
        const uint32_t index = append(std::move(box));
        if (kind == DisplayBox::Kind::Input)
            m_result.boxOfValue[id.index()] = index;
        return index;
    }

    void addOperator(NodeId id)
    {
        const Node& node = m_graph.node(id);
        DisplayBox box;
        box.title = boxTitle(node);
        box.subtitle = rawQuantizerText(id).value_or(boxSubtitle(node, m_dims));
        const uint32_t index = append(std::move(box));
        own(index, id);
        for (const ValueId input : node.inputs)
            if (input.valid())
                connect(index, input);
    }

    void addHidden(NodeId id)
    {
        if (const ValueId from = carried(m_graph.node(id)); from.valid())
            own(m_result.boxOfValue[from.index()], id);
    }

    uint32_t append(DisplayBox box)
    {
        m_result.boxes.push_back(std::move(box));
        return static_cast<uint32_t>(m_result.boxes.size() - 1);
    }

    /// The node and what it makes belong to this box.
    void own(uint32_t index, NodeId id)
    {
        DisplayBox& box = m_result.boxes[index];
        box.nodes.push_back(id);
        m_result.boxOfNode[id.index()] = index;
        for (const ValueId output : m_graph.node(id).outputs) {
            if (!output.valid())
                continue;
            box.values.push_back(output);
            m_result.boxOfValue[output.index()] = index;
        }
    }

    /// Box `to` reads `value`: an edge when the value depends on data, else a weight.
    void connect(uint32_t to, ValueId value)
    {
        const uint32_t from = m_result.boxOfValue[value.index()];
        if (from == to)
            return; // a malformed loop; the importer rejects them
        if (from == FoldedGraph::kNoBox) {
            addWeight(to, value);
            return;
        }
        DisplayEdge edge { from, to, value, {}, {} };
        if (m_folded) {
            edge.quantizers = quantizersBehind(value);
            if (!edge.quantizers.empty())
                edge.badge = badgeOf(edge.quantizers.back());
        }
        m_result.edges.push_back(std::move(edge));
    }

    void addWeight(uint32_t to, ValueId value)
    {
        DisplayBox& box = m_result.boxes[to];
        if (box.kind == DisplayBox::Kind::Output)
            return;
        box.weights.push_back({ value, m_quant.ofValue(value) });
        for (NodeId producer = m_graph.value(value).producer; producer.valid();) {
            if (m_result.boxOfNode[producer.index()] != FoldedGraph::kNoBox)
                break; // a weight shared with an earlier box stays there
            own(to, producer);
            const Node& node = m_graph.node(producer);
            producer = node.hasInput(0) ? m_graph.value(node.inputs[0]).producer : NodeId {};
        }
    }

    /// Quantizers between the box that makes a value and the value, in order.
    std::vector<uint32_t> quantizersBehind(ValueId value) const
    {
        std::vector<uint32_t> found;
        for (ValueId at = value; at.valid();) {
            if (const auto q = m_quant.ofValue(at); q && m_quant.quantizers()[*q].real != at)
                if (found.empty() || found.back() != *q)
                    found.push_back(*q);
            const NodeId producer = m_graph.value(at).producer;
            if (!producer.valid() || !hidden(producer))
                break;
            at = carried(m_graph.node(producer));
        }
        std::reverse(found.begin(), found.end());
        return found;
    }

    std::string badgeOf(uint32_t quantizer) const
    {
        const Quantizer& q = m_quant.quantizers()[quantizer];
        QuantParams params = q.params;
        if (params.dtype == DType::Undefined && q.codes.valid())
            params.dtype = m_graph.value(q.codes).type.dtype;
        if (params.dtype == DType::Undefined && q.dynamic)
            params.dtype = DType::UInt8; // DynamicQuantizeLinear makes nothing else
        return badgeText(params, q.dynamic);
    }

    std::optional<std::string> rawQuantizerText(NodeId id) const
    {
        const Node& node = m_graph.node(id);
        if (m_folded || (node.opType != "QuantizeLinear" && node.opType != "DequantizeLinear") || node.outputs.empty())
            return std::nullopt;
        const ValueId key = node.opType == "QuantizeLinear" ? node.outputs[0] : node.inputs[0];
        const auto q = key.valid() ? m_quant.ofValue(key) : std::nullopt;
        return q ? std::optional(badgeOf(*q)) : std::nullopt;
    }

    const Graph& m_graph;
    const QuantView& m_quant;
    const ConstantLookup& m_constants;
    DimsLookup m_dims;
    bool m_folded;
    FoldedGraph m_result;
};

} // namespace

size_t nodesAmong(const FoldedGraph& graph, std::span<const uint32_t> boxes)
{
    return size_t(std::ranges::count_if(boxes, [&](uint32_t box) {
        const DisplayBox::Kind kind = graph.boxes[box].kind;
        return kind != DisplayBox::Kind::Input && kind != DisplayBox::Kind::Output;
    }));
}

FoldedGraph foldGraph(
    const Graph& graph, const QuantView& quant, const ConstantLookup& constants, const DimsLookup& dims, FoldMode mode)
{
    return Folder(graph, quant, constants, dims, mode).run();
}

} // namespace qs
