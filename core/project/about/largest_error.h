// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/about/read_values.h"

#include <optional>
#include <utility>
#include <vector>

namespace qs {

/// Some indices of one axis of a tensor.
struct AxisPart {
    int axis = 0; ///< negative: counted from the last, which is -1
    int64_t first = 0, count = 1;
    bool operator==(const AxisPart&) const = default;
};

/// Which elements of a tensor are looked at.
struct ErrorSearch {
    TensorPlace place;
    std::vector<size_t> samples; ///< one of them for constants
    std::vector<AxisPart> parts; ///< all of the other axes; what lies outside of an axis is left out
    std::optional<std::pair<double, double>> within; ///< float values from the first to below the second
};

struct ErrorFound {
    size_t sample = 0;
    size_t element = 0; ///< within the sample, row by row
    Shape shape; ///< of the tensor for one sample
};

/// The element whose quantized value is furthest from the float one; where a model is open alone the one of the largest
/// magnitude. The first of equals; one that is no number in one of the models is further than any. Nothing where no
/// element is left. Takes as long as running the models once a sample.
Result<std::optional<ErrorFound>> largestError(
    const Snapshot& snapshot, const ErrorSearch& search, const WorkContext& work);

} // namespace qs
