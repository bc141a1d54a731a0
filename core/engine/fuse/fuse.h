// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/plan/plan.h"

#include <vector>

namespace qs {

/// Units of a plan whose nodes are all lowered. One function a kind of fusion, each in core/engine/fuse/<kind>.cpp; a
/// later unit with the same last node replaces an earlier one.
std::vector<FusedUnit> fuseUnits(const Plan& plan, const PlanOptions& options);

} // namespace qs
