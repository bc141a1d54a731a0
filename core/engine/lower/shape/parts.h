// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/registry/registry.h"

/// Parts of the index family, called by lowerIndex().
namespace qs {

void lowerGather(LoweringRegistry&); ///< Gather, GatherElements, GatherND, Scatter*, TopK
void lowerResize(LoweringRegistry&); ///< Resize, Upsample
void lowerUnique(LoweringRegistry&);

} // namespace qs
