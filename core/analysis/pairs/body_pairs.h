// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/pairs/compare_pair.h"

#include <vector>

namespace qs {

/// A subgraph of an If, Loop or Scan in both files, paired within itself.
struct BodyPair {
    NodeId floatNode, quantNode; ///< of the main graphs: whose subgraph it is, or lies in
    ComparePair pair; ///< of the subgraphs' own plans
};
/// All that both files have, those within others included; in the order of the float model's nodes. Nodes pair by name
/// and operator, or by their order where each file has as many of that operator.
std::vector<BodyPair> bodyPairs(const ComparePair& pair);
/// The branch and all that lies in it; the nodes are invalid.
std::vector<BodyPair> bodyPairs(const UntakenPair& branch);

} // namespace qs
