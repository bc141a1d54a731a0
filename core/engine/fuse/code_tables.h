// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/fuse/fused_unit.h"
#include "core/engine/lowered/lowered_graph.h"

#include <vector>

namespace qs {

/// Of `units` that end in a QuantizeLinear (codedResults()), those whose element-wise nodes see nothing but 8-bit codes
/// of one DequantizeLinear and single numbers: what becomes of each of the 256 codes is computed once, by the same
/// kernels, and looked up. Every bit as without.
std::vector<FusedUnit> codeTables(const LoweredGraph& lowered, const std::vector<FusedUnit>& units);

} // namespace qs
