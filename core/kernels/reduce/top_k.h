// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/tensor/dtype.h"

namespace qs {

/// The k largest or smallest of `size` elements, for each of outer x inner lines (row-major outer, size, inner).
struct TopK {
    int64_t outer = 1, size = 0, inner = 1, k = 0;
    bool largest = true;
};

/// Their places along the line, best first, equal ones by ascending place; NaN counts as larger than everything.
/// indices: outer x k x inner. False for types without an order.
bool topKIndices(DType type, const std::byte* data, const TopK& top, int64_t* indices);
/// Naive: every line is sorted.
bool topKIndicesReference(DType type, const std::byte* data, const TopK& top, int64_t* indices);

} // namespace qs
