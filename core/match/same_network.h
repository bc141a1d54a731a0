// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/match/graph_pair.h"
#include "core/match/topology.h"

namespace qs {

/// An Issue unless both graphs are forms of one network, by how many heavy nodes have a partner and how alike their
/// weights are.
Status checkOneNetwork(const GraphPair& g, const Correspondence& found);

} // namespace qs
