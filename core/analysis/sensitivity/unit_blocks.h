// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/sensitivity/sensitivity_units.h"

namespace qs {

/// Nodes that hang together: left in float as a whole, they have no quantizers between them.
struct UnitBlock {
    std::vector<size_t> units; ///< indices, ascending; more than one, and not all
};

/// What networks repeat, of units that are nodes: the scopes of their names ("/layer1/layer1.0"), and the stretches of
/// the graph between two values that every path passes; short ones that follow each other are put together. No two
/// blocks are the same units. Of other units: none.
std::vector<UnitBlock> unitBlocks(const GraphDraft& prepared, UnitKind kind, std::span<const QuantizedUnit> units);

} // namespace qs
