// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/fuse/fused_unit.h"
#include "core/engine/lowered/lowered_graph.h"

#include <vector>

namespace qs {

/// One unit of `nodes` (in node order; each but the first is element-wise and reads another one, and only the last
/// one's output is read outside). Where shapes or layouts do not allow one pass, it runs node by node.
FusedUnit makeChainUnit(const LoweredGraph& lowered, const std::vector<NodeId>& nodes);

} // namespace qs
