// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/model/reads.h"

#include "core/graph/draft.h"

namespace qs {

size_t readsOf(const Graph& body, const std::string& name)
{
    size_t count = 0;
    for (const Node& node : body.nodes()) {
        for (ValueId in : node.inputs)
            count += in.valid() && body.value(in).name == name;
        for (const auto& inner : subgraphs(node.attributes))
            count += readsOf(*inner, name);
    }
    return count;
}

} // namespace qs
