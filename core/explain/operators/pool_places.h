// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/tensor/tensor.h"

#include <cstdint>
#include <vector>

namespace qs {

/// What one element of a pool or a reduction looks at.
struct PoolPlaces {
    std::vector<int64_t> elements; ///< of the input, row by row
    int64_t padded = 0; ///< places of the window, padding counted where the attributes say so
};

/// A window that slides over the spatial axes; they are all but the first two, or but the first and the last.
Result<PoolPlaces> windowPlaces(
    const Node& node, const Shape& x, const Shape& out, int64_t element, bool channelsLast = false);
/// All of the spatial axes.
Result<PoolPlaces> globalPlaces(const Shape& x, const Shape& out, int64_t element, bool channelsLast = false);
/// All of `axes`, each once; `keeps`: the output has them with size 1.
Result<PoolPlaces> reducedPlaces(
    const Shape& x, const Shape& out, int64_t element, const std::vector<size_t>& axes, bool keeps);

} // namespace qs
