// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/layout/folded_graph.h"
#include "core/layout/groups/box_groups.h"

namespace qs {

/// Puts a model's inputs and outputs into the repeated block that alone reads and makes them, where it does both: what
/// a layer keeps from run to run, as a decoder's keys and values. Equal blocks all have them at the same
/// places, or none has.
void takeStates(const FoldedGraph& folded, Grouping& grouping);

} // namespace qs
