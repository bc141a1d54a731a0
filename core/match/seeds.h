// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/match/alignment.h"
#include "core/match/graph_pair.h"
#include "core/match/topology.h"

namespace qs {

/// What is paired before anything is followed along the graphs: by hand, by names, and at the graphs' borders. An Issue
/// when a pair made by hand cannot be one.
Result<Correspondence> seedPairs(const GraphPair& g, const ManualPairs& manual);

/// Pairs float values that are left with roots that are the same, in the order of both graphs; where all of these have
/// a partner, several float values share one. True when there were any.
bool pairEquals(const GraphPair& g, Correspondence& found);

} // namespace qs
