// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/tensor/shape.h"

#include <algorithm>

namespace qs {

/// What a run may make of nothing: an empty batch of what is large is usual.
inline constexpr int64_t kLongestNothing = int64_t(1) << 31;

/// Whether a tensor has no element, and yet axes that nobody who goes along them comes to the end of: 0 x 2^62, whose
/// channels would each get a scale. The sizes other than 0 multiply to more than `most`.
inline bool isEndlessNothing(Shape shape, int64_t most = int64_t(1) << 24)
{
    if (std::ranges::find(shape, 0) == shape.end())
        return false;
    std::ranges::replace(shape, 0, 1);
    return elementCount(shape).value_or(INT64_MAX) > most;
}

} // namespace qs
