// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rounding/leading_values.h"

#include <vector>

namespace qs {

std::set<ValueId> leadingTo(const Graph& graph, ValueId value, const std::set<ValueId>& agreeing)
{
    std::set<ValueId> found { value };
    std::vector<ValueId> front { value };
    while (!front.empty()) {
        const NodeId producer = graph.value(front.back()).producer;
        front.pop_back();
        if (!producer.valid())
            continue;
        const Node& node = graph.node(producer);
        for (const auto* list : { &node.inputs, &node.captures })
            for (const ValueId in : *list)
                if (in.valid() && !agreeing.contains(in) && found.insert(in).second)
                    front.push_back(in);
    }
    return found;
}

} // namespace qs
