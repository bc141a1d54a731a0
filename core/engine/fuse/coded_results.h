// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/fuse/fused_unit.h"
#include "core/engine/lowered/lowered_graph.h"

#include <vector>

namespace qs {

/// A convolution, product, element-wise node or chain of `units` whose float32 result only one QuantizeLinear with one
/// constant scale reads: its pieces become codes while they are in the nearer caches. Every bit as without. Nodes
/// marked `taken` (by index) stay out, and units that do not give their result in pieces, too.
std::vector<FusedUnit> codedResults(
    const LoweredGraph& lowered, const std::vector<FusedUnit>& units, const std::vector<bool>& taken);

} // namespace qs
