// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/registry/registry.h"

namespace qs {

// Parts of the element-wise family, called by lowerElementwise().
void lowerElementwiseBinary(LoweringRegistry&); ///< two and more operands, comparisons, Where, BiasGelu
void lowerCasts(LoweringRegistry&); ///< Cast, CastLike
void lowerExperimental(LoweringRegistry&); ///< Affine, Crop, ImageScaler ... of opsets up to 9

} // namespace qs
