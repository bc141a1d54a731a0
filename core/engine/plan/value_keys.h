// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/hash.h"
#include "core/engine/fuse/fused_unit.h"
#include "core/engine/lowered/lowered_graph.h"
#include "core/engine/lowered/plan_options.h"

#include <optional>
#include <vector>

namespace qs {

/// Content key of every value of a graph, by value: equal keys, equal bits from equal graph inputs. Nothing where that
/// cannot be known. Made of the keys of constants, after fusion, since what a unit computes follows from its borders,
/// too; of several units that end with one node the last one counts.
std::vector<std::optional<Hash128>> valueKeys(const LoweredGraph& lowered, const std::vector<FusedUnit>& units,
    std::vector<std::optional<Hash128>> constantKeys, const PlanOptions& options);

} // namespace qs
