// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/layout/folded_graph.h"

#include <compare>
#include <cstdint>
#include <vector>

namespace qs {

/// What is kept around some boxes.
struct Neighbourhood {
    uint32_t steps = 3; ///< along edges, upwards and downwards
    bool toInputs = false; ///< everything that the boxes depend on, however far
    bool toOutputs = false; ///< everything that depends on them
    auto operator<=>(const Neighbourhood&) const = default;
};

/// Boxes of the neighbourhood, ascending; the middle ones are always in it.
std::vector<uint32_t> boxesAround(
    const FoldedGraph& graph, const std::vector<uint32_t>& middle, const Neighbourhood& wanted);

/// The drawing of these boxes (ascending) alone; each says which one of `whole` it stands for.
FoldedGraph partOf(const FoldedGraph& whole, const std::vector<uint32_t>& boxes);

} // namespace qs
