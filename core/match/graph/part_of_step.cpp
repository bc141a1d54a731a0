// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/match/graph/part_of_step.h"

#include <algorithm>

namespace qs {

bool isPartOfStep(const CanonicalGraph& own, NodeId activation, const CanonicalGraph& other, ValueId root)
{
    const auto inputs = own.dataInputs(activation);
    if (inputs.empty() || own.readers(inputs[0]).size() < 2)
        return false;
    const auto isThere = [&](NodeId next) {
        return std::ranges::any_of(
            other.readers(root), [&](NodeId reader) { return other.opClass(reader) == own.opClass(next); });
    };
    return std::ranges::none_of(own.readers(own.root(own.graph().node(activation).outputs[0])), isThere);
}

} // namespace qs
