// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/match/units/region.h"

#include <algorithm>

namespace qs {

namespace {

constexpr size_t kMostValues = 256; ///< the largest units, embeddings and attention, have some 60

/// It moves elements, or computes indices and masks: no step that tells one unit from another. Of a node with several
/// outputs this is said of the one that is read, such as the mask that an embedding hands on.
bool isPassive(const CanonicalGraph& graph, NodeId id, ValueId output)
{
    const Node& node = graph.graph().node(id);
    const FlowKind kind = graph.kind(id);
    if (kind == FlowKind::Same || kind == FlowKind::Reshape || node.opType == "Transpose" || readsSizes(node))
        return true;
    if (node.opType == "ConvInteger" || node.opType == "MatMulInteger")
        return false;
    const DType type = graph.plan().facts().of(output).dtype;
    return type == DType::Int32 || type == DType::Int64 || type == DType::Bool;
}

std::vector<ValueId> readBy(const CanonicalGraph& graph, NodeId id)
{
    std::vector<ValueId> roots = graph.dataInputs(id);
    for (const ValueId outer : graph.graph().node(id).captures)
        if (outer.valid() && !graph.plan().constant(outer))
            roots.push_back(graph.root(outer));
    return roots;
}

} // namespace

bool readsSizes(const Node& node) { return node.opType == "Shape" || node.opType == "Size"; }

Region regionBefore(const MatchedFile& file, ValueId root)
{
    Region region;
    std::set<NodeId> seen, steps;
    std::vector<ValueId> open { root };
    std::set<ValueId> reached { root };
    for (size_t i = 0; i < open.size(); ++i) {
        const NodeId producer = file.graph.graph().value(open[i]).producer;
        if (!producer.valid()) {
            region.border.insert(open[i]); // a graph input without a partner
            continue;
        }
        if (i > 0)
            region.values.push_back(open[i]);
        if (region.values.size() > kMostValues) {
            region.complete = false;
            return region;
        }
        if (!isPassive(file.graph, producer, open[i]))
            steps.insert(producer);
        if (!seen.insert(producer).second)
            continue;
        if (readsSizes(file.graph.graph().node(producer)))
            continue;
        for (const ValueId in : readBy(file.graph, producer)) {
            if (file.known(in))
                region.border.insert(in);
            else if (reached.insert(in).second)
                open.push_back(in);
        }
    }
    region.steps.assign(steps.rbegin(), steps.rend());
    return region;
}

} // namespace qs
