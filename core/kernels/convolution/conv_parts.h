// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/kernels/convolution/window_shape.h"

#include <cstddef>
#include <vector>

namespace qs {

/// A convolution over a part of the images or of the rows (first spatial axis) of another one.
struct ConvPart {
    ConvShape shape;
    size_t inputBegin = 0; ///< first element that it reads, channels-last
    size_t outputBegin = 0, outputEnd = 0; ///< elements that it makes
};

/// Cuts a convolution into parts whose outputs stay in the nearer caches and that several threads can share. A function
/// of the shape alone, so that results do not depend on the number of threads. Together they make every output once.
std::vector<ConvPart> convParts(const ConvShape& shape, ConvDirection direction);

} // namespace qs
