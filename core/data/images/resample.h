// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/images/picture.h"

namespace qs {

enum class Interpolation { Nearest, Bilinear, Bicubic };

/// Scales to width x height. Bilinear and bicubic (a = -0.5) widen their support when shrinking, work along rows and
/// then along columns (the other way round when the height shrinks by more than twice what the width does), and round
/// to 8 bits after each, as Pillow does; nearest takes the pixel under the centre.
Picture resized(const Picture& picture, int width, int height, Interpolation interpolation);

} // namespace qs
