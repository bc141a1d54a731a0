// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/fuse/fused_unit.h"
#include "core/engine/lowered/lowered_graph.h"
#include "core/engine/lowered/plan_options.h"

#include <vector>

namespace qs {

/// Units of a graph whose nodes are lowered. One function a kind of fusion, each in core/engine/fuse/<kind>.cpp; a
/// later unit with the same last node replaces an earlier one.
std::vector<FusedUnit> fuseUnits(const LoweredGraph& lowered, const PlanOptions& options);

} // namespace qs
