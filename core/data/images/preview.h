// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/images/picture.h"
#include "core/tensor/tensor.h"

namespace qs {

/// A small picture of sample `index` of `samples` in a model input, `most` pixels wide and high at most: an image where
/// the shape is that of one (channels first or last), a curve for one row of numbers, else rows and columns in grey.
/// Brightness goes from the smallest to the largest finite value. Without pixels where there is nothing to show.
Picture inputPreview(const Tensor& input, size_t index, size_t samples, int most);

} // namespace qs
