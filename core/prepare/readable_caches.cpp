// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/prepare/readable_caches.h"

#include "core/graph/domains.h"
#include "core/graph/own_domain.h"

#include <algorithm>
#include <array>

namespace qs {

namespace {

struct CacheSlots {
    size_t output, scale;
};
constexpr std::array<CacheSlots, 2> kCaches { { { 1, 12 }, { 2, 13 } } };

template <class N> bool storesCodes(const N& node)
{
    return node.is("GroupQueryAttention", kMicrosoftDomain) && node.attributes.text("k_quant_type", "NONE") != "NONE"
        && node.attributes.integer("kv_cache_bit_width", 0) > 0;
}

std::string freeName(const Graph& graph, std::string name)
{
    while (graph.findValue(name).valid())
        name += '_';
    return name;
}

} // namespace

bool hasCodedCaches(const Graph& graph)
{
    return std::ranges::any_of(graph.nodes(), [](const Node& node) { return storesCodes(node); });
}

std::string codedCacheName(const Graph& graph, const Node& node)
{
    std::string names;
    if (!storesCodes(node))
        return names;
    for (const CacheSlots& slots : kCaches)
        if (slots.output < node.outputs.size() && node.outputs[slots.output].valid())
            names += (names.empty() ? "" : ", ") + graph.value(node.outputs[slots.output]).name;
    return names;
}

void addCacheReaders(GraphDraft& draft)
{
    std::vector<DraftNode> readers;
    for (size_t n = 0; n < draft.nodes.size(); ++n) {
        const DraftNode& node = draft.nodes[n];
        if (!storesCodes(node))
            continue;
        for (const CacheSlots& slots : kCaches) {
            if (slots.output >= node.outputs.size() || node.outputs[slots.output].empty()
                || !node.hasInput(slots.scale))
                continue;
            const std::string& codes = node.outputs[slots.output];
            DraftNode reader { {}, {}, kDequantizeCache, kOwnDomain, { codes, node.inputs[slots.scale] },
                { freeName(draft.source().graph, codes + "_dequantized") }, {} };
            reader.attributes.set("bits", node.attributes.integer("kv_cache_bit_width", 0));
            reader.name = reader.outputs[0];
            readers.push_back(std::move(reader));
        }
    }
    if (!readers.empty())
        draft.opsets[kOwnDomain] = 1;
    std::ranges::move(readers, std::back_inserter(draft.nodes));
}

} // namespace qs
