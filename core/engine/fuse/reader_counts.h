// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/graph.h"

#include <vector>

namespace qs {

/// How often nodes and their subgraphs read each value (by index). Graph outputs count for nothing.
inline std::vector<size_t> readerCounts(const Graph& graph)
{
    std::vector<size_t> counts(graph.values().size(), 0);
    for (const Node& node : graph.nodes())
        for (const auto& list : { node.inputs, node.captures })
            for (const ValueId in : list)
                if (in.valid())
                    ++counts[in.index()];
    return counts;
}

} // namespace qs
