// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/layout/groups/box_row.h"

#include <string>
#include <unordered_map>

namespace qs {

namespace {

template <class T> void append(std::string& text, const T& number)
{
    text.append(reinterpret_cast<const char*>(&number), sizeof number); // a key, never read again
}

/// What an attribute adds to the key of an operator: numbers by their value, tensors and graphs by their size.
struct AttributeKey {
    std::string& key;
    void operator()(int64_t value) const { append(key, value); }
    void operator()(float value) const { append(key, value); }
    void operator()(const std::string& value) const { key += value; }
    void operator()(const Tensor& value) const
    {
        append(key, value.dtype());
        for (const int64_t size : value.shape())
            append(key, size);
    }
    void operator()(const std::shared_ptr<const Graph>& value) const
    {
        for (const Node& node : value->nodes())
            key += node.opType + '\1';
    }
    void operator()(const OpaqueAttribute& value) const { key += value.kind; }
    template <class T> void operator()(const std::vector<T>& values) const
    {
        for (const T& value : values)
            (*this)(value);
    }
};

std::string keyOf(const Node& node, const DisplayBox& box, const DimsLookup& dims)
{
    std::string key = node.opType + '\0' + node.domain + '\0';
    for (const auto& [name, value] : node.attributes.all()) {
        key += name + '\0';
        std::visit(AttributeKey { key }, value);
    }
    for (const BoxWeight& weight : box.weights) {
        key += 'w';
        if (const auto sizes = dims ? dims(weight.value) : std::nullopt)
            for (const Dim& dim : *sizes)
                append(key, dim.known() ? dim.value : int64_t(-1));
    }
    return key;
}

} // namespace

const Node* operatorOf(const Graph& graph, const DisplayBox& box)
{
    if (box.kind != DisplayBox::Kind::Operator)
        return nullptr;
    if (box.mainNode().valid())
        return &graph.node(box.mainNode());
    const auto inner = innerNode(graph, box.inner);
    return inner ? inner->node : nullptr;
}

BoxRow boxRow(const Graph& graph, const FoldedGraph& folded, const DimsLookup& dims, const ScopeTree& tree,
    const std::vector<uint32_t>& order)
{
    BoxRow row;
    std::unordered_map<std::string, uint32_t> labels;
    std::vector<uint32_t> place(order.size());
    uint32_t unlike = 0;
    for (uint32_t i = 0; i < order.size(); ++i) {
        const DisplayBox& box = folded.boxes[order[i]];
        place[order[i]] = i;
        const Node* node = operatorOf(graph, box);
        const std::string key = node ? keyOf(*node, box, dims) : "\2" + std::to_string(++unlike);
        row.labels.push_back(labels.try_emplace(key, static_cast<uint32_t>(labels.size())).first->second);
        const uint32_t scope = tree.ofBox[order[i]];
        row.scopeDepth.push_back(i == 0 ? 0 : tree.scopes[tree.common(scope, tree.ofBox[order[i - 1]])].depth);
    }
    row.inputs.resize(order.size());
    for (const DisplayEdge& edge : folded.edges)
        row.inputs[place[edge.to]].push_back(place[edge.from]);
    return row;
}

} // namespace qs
