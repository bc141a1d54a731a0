// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/match/alignment.h"
#include "core/match/graph_pair.h"
#include "core/match/topology.h"

namespace qs {

/// Pairs of values that a correspondence means, in the float graph's topological order: each float value with what the
/// quantized file shows of it.
std::vector<ValuePair> valuePairs(const GraphPair& g, const Correspondence& found);

/// By it pairs are in the float graph's topological order.
size_t placeOf(const Graph& floatGraph, const ValuePair& pair);

} // namespace qs
