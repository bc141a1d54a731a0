// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/registry/registry.h"

/// Parts of the vision family, called by lowerVision().
namespace qs {

void lowerRegions(LoweringRegistry&); ///< RoiAlign, MaxRoiPool, NonMaxSuppression
void lowerWindows(LoweringRegistry&); ///< Col2Im, DeformConv, MaxUnpool, CenterCropPad

} // namespace qs
