// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/fuse/fused_unit.h"
#include "core/engine/lowered/lowered_graph.h"

#include <vector>

namespace qs {

/// Units of element-wise float32 functions that follow each other (activations, scales, residual sums ...), with the
/// convolution or product that feeds them where there is one: computed piece by piece while the values are in the
/// nearer caches, by the same kernels as node by node, so that all bits are equal. Nodes marked `taken` (by index) stay
/// out.
std::vector<FusedUnit> elementChains(const LoweredGraph& lowered, const std::vector<bool>& taken);

} // namespace qs
