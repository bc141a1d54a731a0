// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/own_domain.h"
#include "core/prepare/readable_caches.h"

#include <array>
#include <cstdint>
#include <functional>
#include <set>
#include <string>

namespace qs {

/// Attentions of a quantized file that remember keys and values as codes. No recipe asks for that: they remember floats
/// in what it makes.
struct CodedCaches {
    size_t nodes = 0;
    std::string types; ///< "int8", "int4", "int8 and int4"
    std::set<std::string> names; ///< of these nodes, and of the values with their scales
};

inline CodedCaches codedCaches(const Graph& graph)
{
    constexpr std::array<size_t, 2> kScales { 12, 13 }; // inputs k_scale and v_scale of GroupQueryAttention
    CodedCaches found;
    std::set<int64_t, std::greater<>> bits;
    for (const Node& node : graph.nodes()) {
        if (node.is(kDequantizeCache, kOwnDomain)) // put there to compare them
            found.names.insert(node.name);
        if (codedCacheName(graph, node).empty())
            continue;
        ++found.nodes;
        found.names.insert(node.name);
        bits.insert(node.attributes.integer("kv_cache_bit_width", 0));
        for (const size_t scale : kScales)
            if (node.hasInput(scale))
                found.names.insert(graph.value(node.inputs[scale]).name);
    }
    for (const int64_t width : bits)
        found.types += (found.types.empty() ? "int" : " and int") + std::to_string(width);
    return found;
}

} // namespace qs
