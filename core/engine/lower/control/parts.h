// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/step/lower_context.h"

/// Operators with subgraphs that have files of their own.
namespace qs {

Result<LoweredNode> lowerScan(const LowerContext& c);
Result<LoweredNode> lowerSequenceMap(const LowerContext& c);

} // namespace qs
