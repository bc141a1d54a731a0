// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/input_sizes.h"

namespace qs {

namespace {

/// Takes over the sizes of what is joined with it, but for those of the axis along which it is, and of the first.
void fillFrom(Dims& dims, const Graph& graph, const Node& join)
{
    int64_t axis = join.attributes.integer("axis", 0);
    axis += axis < 0 ? int64_t(dims.size()) : 0;
    for (const ValueId id : join.inputs) {
        if (!id.valid())
            continue; // named nowhere
        const auto& other = graph.value(id).type.dims;
        if (!other || other->size() != dims.size())
            continue;
        for (size_t d = 1; d < dims.size(); ++d)
            if (int64_t(d) != axis && !dims[d].known())
                dims[d] = (*other)[d];
    }
}

} // namespace

std::optional<Dims> inputSizes(const Graph& graph, ValueId input)
{
    std::optional<Dims> dims = graph.value(input).type.dims;
    if (!dims)
        return dims;
    for (const Use& use : graph.value(input).uses)
        if (const Node& node = graph.node(use.node); node.is("Concat"))
            fillFrom(*dims, graph, node);
    return dims;
}

} // namespace qs
