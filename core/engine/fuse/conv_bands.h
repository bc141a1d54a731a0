// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/fuse/fused_unit.h"
#include "core/engine/lowered/lowered_graph.h"

#include <vector>

namespace qs {

/// A convolution, a depthwise one and one of single pixels (with activations between and behind them, and a residual
/// sum) computed in bands of rows, so that the large tensors between them never leave the nearer caches. Made of
/// `chains` (see element_chains.h) and of nodes that are neither in one nor marked `taken`; every bit as without.
std::vector<FusedUnit> convBands(
    const LoweredGraph& lowered, const std::vector<FusedUnit>& chains, const std::vector<bool>& taken);

} // namespace qs
