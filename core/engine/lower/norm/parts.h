// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/registry/registry.h"

namespace qs {

// Parts of the normalization family, called by lowerNorm().
void lowerBatchNorm(LoweringRegistry&);
void lowerBlockNorms(LoweringRegistry&); ///< Layer, Instance, Group, RMS, SkipLayerNormalization

} // namespace qs
