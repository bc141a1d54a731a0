// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/handed_on.h"

#include "core/graph/graph.h"

namespace qs {

bool isAttentionState(const Graph& graph, ValueId value)
{
    const NodeId producer = graph.value(value).producer;
    return producer.valid() && graph.node(producer).opType.ends_with("Attention")
        && graph.node(producer).outputs[0] != value;
}

bool isHandedOn(const Graph& graph, ValueId output)
{
    return isAttentionState(graph, output) || graph.value(output).name.starts_with("present");
}

} // namespace qs
