// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/match/graph_pair.h"
#include "core/match/topology.h"

namespace qs {

/// An Issue unless both graphs are forms of one network, by how many heavy nodes have a partner. `strangers`: hardly
/// any of their weights are alike, of which values tell whether the networks are. `weights`: paired ones; those of
/// which one file has a part elsewhere count as alike.
Status checkOneNetwork(
    const GraphPair& g, const Correspondence& found, const std::vector<WeightPair>& weights, bool& strangers);

} // namespace qs
