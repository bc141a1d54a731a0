// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/match/alignment.h"
#include "core/match/graph_pair.h"

namespace qs {

/// Pairs matrices that one file keeps as one and the other in several (query, key and value packed side by side), by
/// their numbers: slices of the larger one against the smaller ones. One whose numbers are others is paired like
/// another of its shape in that file. `known`: pairs found otherwise, whose constants are left alone.
std::vector<WeightPair> packedWeightPairs(const GraphPair& g, const std::vector<WeightPair>& known);

} // namespace qs
