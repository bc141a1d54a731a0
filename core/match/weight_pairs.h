// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/match/alignment.h"
#include "core/match/graph_pair.h"
#include "core/match/topology.h"

namespace qs {

/// Pairs of the constants that paired nodes read, in the order of the float nodes.
std::vector<WeightPair> weightPairs(const GraphPair& g, const Correspondence& found);

} // namespace qs
