// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/kernels/codes/integer_product.h"

/// Vector loops of pools over 8-bit codes.
namespace qs {

/// out[c] = the largest of taps[t][c]. `out` may be one of the taps; there is at least one.
void largestCodes(std::span<const uint8_t* const> taps, bool isSigned, int64_t n, uint8_t* out);
/// sums[c] = sum over the rows of x[row * n + c], at most 2^23 rows.
void sumCodeRows(Codes x, int64_t rows, int64_t n, int32_t* sums);

} // namespace qs
